#!/usr/bin/env bash
# Slurm on this machine alone, for tests: `slurm.sh start FOLDER`, `slurm.sh stop FOLDER`. Needs root and Debian's
# slurm-wlm and munge. Everything lies in FOLDER; commands find it by SLURM_CONF=FOLDER/slurm.conf.
set -euo pipefail
folder=$2
case $1 in
start)
    host=$(hostname -s)
    free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
    mkdir -p "$folder"/{state,spool,munge}
    chmod 755 "$folder"
    chown munge:munge "$folder/munge"
    chmod 711 "$folder/munge"
    dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
    chown munge:munge "$folder/munge/key"
    chmod 400 "$folder/munge/key"
    cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
MinJobAge=3600
KillWait=2
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    # As daemons in the foreground, so that each is ended by its own process id.
    setsid runuser -u munge -- /usr/sbin/munged --foreground --key-file="$folder/munge/key" \
        --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" \
        --seed-file="$folder/munge/seed" >"$folder/munged.out" 2>&1 </dev/null &
    echo $! >"$folder/munged.process"
    until [ -S "$folder/munge/socket" ]; do sleep 0.1; done
    export SLURM_CONF=$folder/slurm.conf
    for daemon in slurmctld slurmd; do
        setsid "/usr/sbin/$daemon" -D >"$folder/$daemon.out" 2>&1 </dev/null &
        echo $! >"$folder/$daemon.process"
    done
    until sinfo --noheader --format=%t 2>/dev/null | grep -q idle; do
        for daemon in munged slurmctld slurmd; do
            kill -0 "$(cat "$folder/$daemon.process")" || { cat "$folder/$daemon".{out,log} >&2; exit 1; }
        done
        sleep 0.2
    done
    ;;
stop)
    for daemon in slurmd slurmctld munged; do
        [ -f "$folder/$daemon.process" ] || continue
        process=$(cat "$folder/$daemon.process")
        kill "$process" 2>/dev/null || true
        for _ in $(seq 50); do kill -0 "$process" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$process" 2>/dev/null || true
    done
    ;;
esac
