"""执行引擎的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "engine.unavailable": (
        "执行引擎 {engine} 没有应答：{detail}",
        "已经在跑的任务不受影响。请检查引擎的服务是否在运行、它的数据目录是否可写、磁盘是否已满。",
    ),
}

WORDS: dict[str, str] = {
    "engine.detail.account_is_root": "对应的系统账号是 root，不能用来跑任务",
    "engine.detail.account_missing": "没有这个系统账号",
    "engine.detail.account_refused": "系统不允许换到对应的账号",
    "engine.detail.account_unmapped": "提交人没有对应的系统账号",
    "engine.detail.arguments_too_long": "命令行或环境变量太长",
    "engine.detail.card_index_unknown": "不知道卡的序号，无法绑定",
    "engine.detail.command_not_found": "找不到命令",
    "engine.detail.environment_missing": "找不到运行环境",
    "engine.detail.environment_unknown": "不认识这种运行环境",
    "engine.detail.host_restarted": "机器重启过；结束时刻取最后一次见它活着的时刻",
    "engine.detail.killed_cause_unknown": "被强行终止，原因不明",
    "engine.detail.killed_while_host_out_of_memory": "被强行终止；运行期间本机因内存不足杀过进程（次数）",
    "engine.detail.leftovers_ended": "主程序结束后还留有子进程，已清理",
    "engine.detail.left_unkillable": "有进程无权终止（进程号）",
    "engine.detail.log_says": "日志显示内存或显存不足",
    "engine.detail.memory_kills": "因内存不足被系统终止（次数）",
    "engine.detail.node_not_here": "这台机器不归本引擎",
    "engine.detail.node_unreachable": "机器的代理没有应答",
    "engine.detail.not_executable": "文件不能执行",
    "engine.detail.ranks_unfit": "各部分的编号不连续",
    "engine.detail.run_id_taken": "运行编号已被占用",
    "engine.detail.shell_saw_signal": "脚本里的命令被信号终止",
    "engine.detail.signal_unknown": "没有这个停止信号",
    "engine.detail.start_interrupted": "启动中途断了，程序没有运行过",
    "engine.detail.start_refused": "系统拒绝启动",
    "engine.detail.start_timed_out": "没能在时限内让所有部分就绪",
    "engine.detail.stopped_before_start": "还没启动就被要求停止",
    "engine.detail.supervisor_failed": "看护进程出错",
    "engine.detail.supervisor_lost": "看护进程被终止，余下的进程已清理",
    "engine.detail.supervisor_not_started": "看护进程启动不了",
    "engine.detail.supervisor_terminated": "看护进程被要求退出",
    "engine.detail.text_unfit": "命令、脚本或目录里有系统不接受的字符",
    "engine.detail.variable_unfit": "环境变量的名字或值不合规",
    "engine.detail.workdir_forbidden": "没有权限进入工作目录",
    "engine.detail.workdir_missing": "工作目录不存在",
}
