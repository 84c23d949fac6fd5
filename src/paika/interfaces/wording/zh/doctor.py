"""体检（paika doctor）的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "doctor.python": ("Python {version}。", "不用做什么。"),
    "doctor.python_old": ("Python {version} 太旧。", "换 {oldest} 或更新的版本。"),
    "doctor.folder": ("数据目录 {path} 可写（{filesystem}）。", "不用做什么。"),
    "doctor.folder_new": ("数据目录 {path} 还没有，可以新建（{filesystem}）。", "第一次启动时会建好。"),
    "doctor.folder_not_writable": ("数据目录 {path} 不可写。", "改目录权限，或换一个目录。"),
    "doctor.folder_network": (
        "数据目录 {path} 在网络文件系统（{filesystem}）上，文件锁和落盘不可靠。",
        "换到本机磁盘；要共享数据库，请用 PostgreSQL。",
    ),
    "doctor.folder_volatile": (
        "数据目录 {path} 在内存里（{filesystem}），重启就没了。",
        "只适合试用；正式使用请换到磁盘。",
    ),
    "doctor.disk": ("{path} 还剩 {free_mib:gib}。", "少于 10 GiB 时请清理旧日志或扩容。"),
    "doctor.disk_full": ("{path} 只剩 {free_mib:gib}，不够用。", "先腾出至少 1 GiB。"),
    "doctor.disk_unknown": ("看不到 {path} 还剩多少空间。", "用 df 自己确认一下。"),
    "doctor.nvidia_absent": ("没有 NVIDIA 驱动库：{cause}。", "这台机器没有 NVIDIA 卡就不用管；有卡请装驱动。"),
    "doctor.nvidia_no_cards": ("NVIDIA 驱动在，但没有看到卡。", "检查卡是否插好、是否掉线，或容器有没有挂上设备。"),
    "doctor.nvidia_mismatch": ("NVIDIA 驱动和库的版本不一致：{cause}。", "重启机器，或重新加载驱动模块。"),
    "doctor.nvidia_fails": ("NVIDIA 驱动不应答：{cause}。", "先运行 nvidia-smi，让它能正常输出。"),
    "doctor.ascend_absent": ("没有 npu-smi。", "这台机器没有昇腾卡就不用管。"),
    "doctor.ascend_fails": ("npu-smi 出错：{cause}。", "先运行 npu-smi info，让它能正常输出。"),
    "doctor.cards": ("机器 {node} 上看到 {cards} 张卡：{models}。", "不用做什么。"),
    "doctor.cards_unwell": ("机器 {node} 上有 {cards} 张卡不正常：{ids}。", "复位或检修；正常之前不会派任务。"),
    "doctor.cards_cut": (
        "机器 {node} 上有 {cards} 张卡切成了 MIG 实例：{ids}。",
        "切分的卡目前按“被外部占用”显示，不参加排程；要参加请关闭 MIG。",
    ),
    "doctor.cards_odd": ("机器 {node} 上有读不懂的值：{oddities}。", "这些值按“未知”处理，其余照常。"),
    "doctor.cards_unseen": ("清单说机器 {node} 有 {declared} 张卡，只看到 {seen} 张。", "核对清单，或检查掉线的卡。"),
    "doctor.cgroup": ("可以用 cgroup v2（{controllers}）。", "不用做什么。"),
    "doctor.cgroup_missing": (
        "不能自建 cgroup v2 分组，内存超限只能从日志判断。",
        "用 systemd 启动并设 Delegate=yes；不设也能用。",
    ),
    "doctor.boot_id": ("本次开机编号 {boot_id}。", "不用做什么。"),
    "doctor.boot_id_missing": ("读不到本次开机编号，服务重启后认不出还在跑的任务。", "检查 /proc 是否挂载完整。"),
    "doctor.clock": ("时钟已同步。", "不用做什么。"),
    "doctor.clock_free": ("时钟没有同步，时间会慢慢跑偏。", "打开 chrony 或 systemd-timesyncd。"),
    "doctor.clock_unknown": ("看不出时钟有没有同步。", "在宿主机上确认一下即可。"),
    "doctor.clock_wrong": ("时钟明显不对：{now}。", "先校时，再启动。"),
    "doctor.port_free": ("本机端口 {port} 可用。", "不用做什么。"),
    "doctor.port_taken": ("本机端口 {port} 已被占用。", "换一个端口，或停掉占用它的程序（也可能排卡已经在运行）。"),
    "doctor.inventory": ("清单有效：{nodes} 台机器、{cards} 张卡。", "不用做什么。"),
    "doctor.inventory_absent": ("没有清单文件。", "写一份清单；本机的卡也可以不写，由检查自动加入。"),
    "doctor.inventory_bad": ("清单里有 {problems} 处错误。", "按下面列出的逐条改正。"),
}

WORDS: dict[str, str] = {
    "doctor.level.ok": "正常",
    "doctor.level.warn": "注意",
    "doctor.level.fail": "不行",
}
