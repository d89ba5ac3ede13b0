"""A toy world to learn: a BERT of a few thousand weights, rules about topics, questions that ask for them in other words."""

from __future__ import annotations

import json
from pathlib import Path

from responsa.learn.base import Base, base
from responsa.learn.examples import Example
from responsa.learn.material import Material
from responsa.types import Query, Ranking, Run

TOPICS = 12
FILLERS = ("firm", "must", "report", "within", "days", "to", "the", "regulator", "what", "when", "about", "rule")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def passage_text(topic: int) -> str:
    """The rule on a topic: its word is ``law<n>``."""
    return f"the firm must report law{topic} within days {topic}"


def question(topic: int, form: int = 0) -> str:
    """A question on a topic: its word is ``case<n>``, which the rule does not have."""
    return (f"what about case{topic}", f"when must case{topic} report", f"the rule about case{topic} to the firm")[form]


def tiny_base(folder: Path, seed: int = 0, spread: float = 0.02) -> Base:
    """A BERT folder with random weights of that spread and a vocabulary of the toy world's words."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel

    topics = [f"{kind}{topic}" for kind in ("law", "case", "") for topic in range(TOPICS)]
    words = {word: row for row, word in enumerate((*SPECIAL, *FILLERS, *topics))}
    tokenizer = Tokenizer(WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])],
    )
    tokenizer.enable_padding(length=20)  # what a file says of padding must not matter
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.set_num_threads(1)  # the networks are too small for more
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=0.02,
        initializer_range=spread,
    )
    BertModel(config).save_pretrained(folder)
    return base(str(folder))


def toy_material(negatives: int = 3) -> Material:
    """Two questions on each topic to learn from, one to validate; candidates are all passages, in no useful order."""
    texts = {f"p{topic}": passage_text(topic) for topic in range(TOPICS)}
    learned = tuple(
        Example(Query(f"q{topic}-{form}", question(topic, form)), (f"p{topic}",))
        for topic in range(TOPICS)
        for form in (0, 1)
    )
    validation = tuple(Example(Query(f"v{topic}", question(topic, 2)), (f"p{topic}",)) for topic in range(TOPICS))
    mined = {
        example.query.id: tuple(
            f"p{(int(example.passages[0][1:]) + step) % TOPICS}" for step in range(1, negatives + 1)
        )
        for example in learned
    }
    candidates = Run(
        "all",
        {
            example.query.id: Ranking.of(example.query.id, [(passage, 1.0 + hash_free(passage)) for passage in texts])
            for example in validation
        },
    )
    return Material(learned, texts, mined, validation, candidates)


def marked_material() -> Material:
    """What a cross-encoder learns in seconds: rules on the first four topics are gold, those on the others never."""
    material = toy_material()
    gold, others = {f"p{topic}" for topic in range(4)}, tuple(f"p{topic}" for topic in range(4, TOPICS))
    learned = tuple(example for example in material.examples if example.passages[0] in gold)
    validation = tuple(example for example in material.validation if example.passages[0] in gold)
    listed = {
        example.query.id: Ranking.of(example.query.id, [(passage, 1.0) for passage in (*example.passages, *others)])
        for example in validation
    }
    mined = {example.query.id: others for example in learned}
    return Material(learned, material.texts, mined, validation, Run("some", listed))


def hash_free(passage: str) -> float:
    """A small number that depends on the id alone."""
    return (int(passage[1:]) * 7 % TOPICS) / 100


def write_world(folder: Path) -> tuple[Path, Path]:
    """A JSONL file of passages and one of questions with their passages."""
    passages, questions = folder / "rules.jsonl", folder / "questions.jsonl"
    rows = [{"id": f"p{topic}", "text": passage_text(topic)} for topic in range(TOPICS)]
    passages.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = [
        {"question": question(topic, form), "passages": [f"p{topic}"]} for topic in range(TOPICS) for form in range(3)
    ]
    questions.write_text("".join(json.dumps(row) + "\n" for row in asked), encoding="utf-8")
    return passages, questions
