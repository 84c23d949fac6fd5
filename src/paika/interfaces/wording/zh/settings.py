"""设置。"""

MESSAGES: dict[str, tuple[str, str]] = {
    "settings.bad": ("设置有误（{field}）：{detail}", "改正设置文件或环境变量后再启动。"),
}

WORDS: dict[str, str] = {}
