"""接口本身的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "api.not_json": ("请求内容不是合格的 JSON：{detail}。", "按 JSON 写；NaN、无穷大和重复的键都不收。"),
    "api.body_too_large": ("请求内容超过 {allowed_bytes} 字节。", "分几次提交，或把大文件放到任务能读到的路径上。"),
    "api.no_route": ("没有这个地址：{path}。", "接口地址都以 /api/v1/ 开头，清单见 /api/v1/openapi.json。"),
    "api.no_method": ("这个地址不接受 {method}。", "清单见 /api/v1/openapi.json。"),
    "api.bad_request": ("读不懂这个请求：{detail}。", "检查请求的写法。"),
    "api.incident": ("服务器自己出了错，编号 {incident}。", "把这个编号告诉管理员，服务器日志里能查到。"),
    "api.no_upload": ("没有收到文件。", "用 multipart/form-data 的 file 字段上传 CSV 或 XLSX。"),
    "api.no_tables": ("这个服务器不导入文件。", "请一条一条提交，或请管理员打开导入。"),
}

WORDS: dict[str, str] = {}
