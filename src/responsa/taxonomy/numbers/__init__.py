"""What a report states in numbers: figures with units and years, KPI templates, figures beside thresholds."""
