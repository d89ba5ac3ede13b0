"""Responsa answers questions about regulation with the rule cited and every obligation accounted for."""
