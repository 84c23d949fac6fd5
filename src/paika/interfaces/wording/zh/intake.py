"""任务与数据集录入、导入的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "value.unit_missing": (
        "{field} 写了“{value}”，但没有单位。",
        (
            "写上单位，例如显存写 80G 或 81920M、时长写 2h 或 90 分钟；"
            "也可以把单位写进列名，如“显存(GB)”“预计时长(小时)”。"
        ),
    ),
    "value.fraction_of_card": (
        "卡数不能是“{value}”：整卡只能按整数申请。",
        "只要一张卡的一部分时，卡数写 1，并填“共享显存”（share_vram）和“共享带宽”（share_bandwidth）。",
    ),
    "value.shell_word": (
        "命令里有只有 shell 才懂的符号“{value}”，而命令不经过 shell 运行。",
        "把整段内容放进“脚本”（script）字段，或用引号把这个符号括起来。",
    ),
    "field.given_twice": ("{field} 填了不止一次：{headings}。", "只留其中一个。"),
    "task.command_or_script": (
        "命令和脚本必须填一个，也只能填一个。",
        "一行能写完的用“命令”，多步的用“脚本”。",
    ),
    "task.not_with_share": (
        "共享一张卡的任务，{field} 不能是“{value}”（可用：{allowed}）。",
        "共享任务只用一台机器上一张卡的一部分，显存写在“共享显存”里；要整卡就清空共享的两项。",
    ),
    "task.cards_not_even": ("{cards} 张卡没法平均分到 {nodes} 台机器上。", "改卡数或机器数，让每台机器的卡数相同。"),
    "task.estimate_order": (
        "预计时长应当从小到大：最短 {low_s:span}，预计 {likely_s:span}，最长 {high_s:span}。",
        "改正三个数的大小；拿不准就只填“预计时长”。",
    ),
    "task.limit_below_estimate": (
        "时限 {limit_s:span} 比最长预计 {high_s:span} 还短，任务会在跑完前被停掉。",
        "把时限调到 {high_s:span} 以上，或调低预计。",
    ),
    "table.unreadable": (
        "读不了文件 {filename}：{cause:word.table.cause}（第 {line} 行）。",
        "请另存为 UTF-8 编码的 CSV 或 XLSX 再导入。",
    ),
    "table.too_big": (
        "文件 {filename} 太大：{size} {what:word.table.what}，上限是 {limit}。",
        "拆成几个文件分别导入，并删掉表格里多余的空行空列。",
    ),
    "import.no_header": (
        "没有找到表头：前 30 行里没有一行含两个以上认识的列名。第一行是：{looked_at}。",
        "请保留一行列名，例如：{known}。",
    ),
    "import.spare_cells": (
        "这一行的格子比列名多，多出来的第一个是“{value}”。",
        "多半是某一格里的逗号没有加引号；给那一格加上英文双引号。",
    ),
    "import.duplicate_row": ("“{name}”与第 {first_line} 行完全相同。", "删掉重复的一行；确实要跑两次，就改个名字。"),
    "import.same_name": (
        "“{name}”与别的任务同名（本表第 {first_line} 行；0 表示已在队列里）。",
        "可以照常导入；如果是误传了两次，请删掉这一行。",
    ),
    "import.parent_row_bad": (
        "它要等的“{parent}”（第 {parent_line} 行）没有被接受。",
        "先改好第 {parent_line} 行，或去掉这项依赖。",
    ),
    "import.readiness_of_what": (
        "写了就绪度，却不知道说的是哪个数据集（本行的数据集：{inputs}）。",
        "有就绪度的行只写一个数据集；多个数据集请分别标记。",
    ),
    "import.readiness_differs": (
        "数据集 {dataset} 的就绪度与第 {first_line} 行不一样。",
        "同一个数据集只写一处，或写成一样。",
    ),
}

WORDS: dict[str, str] = {
    "field.name.help": "一眼能认出来的名字；不必唯一，任务有自己的编号。",
    "field.command.help": (
        "一行命令，例如 python train.py --lr 1e-3。只按空格和引号切分，不经过 shell：没有管道、重定向和变量替换。"
    ),
    "field.script.help": "多步任务写成脚本，由 bash 运行；参数只通过环境变量传入。与“命令”二选一。",
    "field.workdir.help": "任务运行时所在的绝对路径。",
    "field.environment.help": "plain、venv:/路径 或 conda:名称。",
    "field.env.help": "每行一个 NAME=值。固定用卡的变量由排卡设置，不能填。",
    "field.cards.help": "一共要几张卡（整数）。只要一张卡的一部分时写 1，再填共享显存。",
    "field.nodes.help": "卡平均分在几台机器上，默认 1。",
    "field.vram.help": "每张卡至少要多少显存，带单位：80G 或 81920M。G、GB、GiB 都是 1024 MiB。",
    "field.types.help": "允许的型号或系列，用逗号分开；不填就由排卡选够用的最小卡。",
    "field.capabilities.help": "卡必须有的能力，如 bf16、fp8、nvlink。",
    "field.pool.help": "只在这个资源池里排。",
    "field.share_vram.help": "与别人共用一张卡时要的显存，带单位，如 10G。",
    "field.share_bandwidth.help": "共用时占这张卡显存带宽的百分比；不填按 50 算。",
    "field.estimate_low.help": "顺利的话要跑多久。",
    "field.estimate_likely.help": "大概要跑多久：2h、90 分钟、1天；纯数字按秒算。",
    "field.estimate_high.help": "十次里有九次跑得完的时长（P90）。",
    "field.limit.help": "到时就停，不管跑没跑完；不能短于最长预计。有时限的任务更容易插空先跑。",
    "field.inputs.help": "要用的数据集名称或编号，用逗号分开；没备好之前不占卡也不占额度。",
    "field.after.help": "任务编号或同一批里的任务名；可加 :success、:failure、:end（成功、失败、结束），默认成功。",
    "field.not_before.help": "这个时刻之前不启动，如 2026-12-01 09:00。",
    "field.tier.help": "核心、常规或闲时。核心任务要有相应权限。",
    "field.priority.help": "0 到 100，越大越靠前，默认 50。",
    "field.owner.help": "任务算谁的；不填就是提交的人。",
    "field.team.help": "记在哪个团队的额度上；只在一个团队里的人不用填。",
    "field.preemptible.help": "更急的任务需要时可以先停下，之后重新排队。",
    "field.checkpoint.help": "收到停止信号后会自己存档，被停下也不丢多少进度。",
    "field.stop_signal.help": "停止时先发的信号，默认 TERM。",
    "field.grace.help": "发信号后等多久才强行结束，默认 30 秒。",
    "field.milestone.help": "这个任务服务的目标，如“论文投稿”。",
    "field.milestone_at.help": "里程碑的日期；只写日期算到当天结束。",
    "field.kind.help": "同类任务写同一个词，排卡据此积累时长和显存经验。",
    "field.note.help": "写给人看的说明。",
    "field.tags.help": "用逗号分开。",
    "field.log_budget.help": "日志最多留多少，带单位，如 200M。",
    "field.dataset.name": "数据集名称",
    "field.dataset.id": "编号",
    "field.dataset.readiness": "就绪状态",
    "field.dataset.percent": "就绪度",
    "field.dataset.eta": "预计就绪时间",
    "field.dataset.owner": "数据负责人",
    "field.dataset.detail": "说明",
    "field.dataset.probe": "检查方式",
    "field.dataset.target": "检查位置",
    "field.dataset.argv": "检查命令",
    "field.dataset.want_bytes": "应有字节数",
    "field.dataset.want_files": "应有文件数",
    "field.dataset.every": "检查间隔",
    "field.dataset.timeout": "检查时限",
    "field.group.basic": "基本",
    "field.group.advanced": "更多选项",
    "field.ignored": "不导入",
    "table.cause.empty": "里面没有内容",
    "table.cause.binary": "它不是文本也不是表格",
    "table.cause.encoding": "编码既不是 UTF-8 也不是 GBK",
    "table.cause.csv": "CSV 格式有误",
    "table.cause.quote": "有一个双引号没有配对",
    "table.cause.workbook": "工作簿已损坏或不是 XLSX/XLS",
    "table.cause.password": "文件有密码",
    "table.cause.yaml": "YAML 语法有误",
    "table.cause.shape": "不是任务列表的样子",
    "table.what.bytes": "字节",
    "table.what.rows": "行",
    "table.what.columns": "列",
    "probe.kind.path": "目录或文件",
    "probe.kind.manifest": "校验清单",
    "probe.kind.marker": "标记文件",
    "probe.kind.s3_prefix": "对象存储前缀",
    "probe.kind.url": "网址",
    "probe.kind.command": "命令",
    "allowed.# characters": "# 个字符",
    "allowed.# characters, one line": "# 个字符，单行",
    "allowed.# names, each # characters, separated by commas": "# 个名字，每个 # 个字符，用逗号分开",
    "allowed.a list of words, or one line split into words by quotes and blanks, without a shell": (
        "词的列表，或一行命令（按空格和引号切分，不经过 shell）"
    ),
    "allowed.NAME=value pairs, at most #; not PAIKA_* and not the variables that pin cards": (
        "NAME=值，最多 # 个；不能是 PAIKA_* 和固定用卡的变量"
    ),
    "allowed.ids or names of tasks, each with :success, :failure or :end, at most #": (
        "任务编号或名字，可加 :success、:failure、:end，最多 # 个"
    ),
    "allowed.plain, venv:/PATH or conda:NAME": "plain、venv:/路径 或 conda:名称",
    "allowed.an absolute path, # characters": "绝对路径，# 个字符",
    "allowed.an absolute path": "绝对路径",
    "allowed.readiness: preparing": "仅在状态为“准备中”时填写",
}
