"""Training of the models that Responsa runs. Needs torch; what comes out runs without."""
