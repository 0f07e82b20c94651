"""All methods on the same worlds, by the same measures: trained, measured, stored, drawn."""
