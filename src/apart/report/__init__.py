"""Pictures from run folders; never imports training."""
