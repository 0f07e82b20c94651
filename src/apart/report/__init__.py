"""Drawing and statistics, and pictures from run folders; never imports training."""
