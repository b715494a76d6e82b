"""What each kind of sandbox promises, by the name of the probe that tests it. Standard library only."""

ALWAYS = {
    "starts": "commands run",
    "writes_inside": "what exists in the workspace can be written, and the session's temporary directory",
    "no_new_file_outside": "no file comes into being outside",
    "no_change_outside": "no file outside changes",
    "protected_names": "existing protected names at the top of the workspace stay as they are",
    "git_redirectors": "what sends git elsewhere stays as it is, and does not come into being",
    "credentials_hidden": "credentials of the home directory and private state cannot be read",
    "secrets_withheld": "credential files of the workspace cannot be read",
    "no_tcp": "no TCP connection leaves",
    "no_udp": "no UDP packet leaves",
    "no_local_sockets": "no local socket of another program is reached",
    "no_block_devices": "disks and memory cannot be read, not even by root",
    "no_privileges": "no privileges, and none can be gained",
}
WITH_MOUNTS = {
    "new_names": "new files and directories can be made at the top of the workspace",
    "loopback": "programs of one session can talk over a loopback network of their own",
    "own_devices": "an own /dev without block devices",
    "own_processes": "other processes are not seen",
}
REFUSED = {
    "protected_names_refused": "new protected names at the top and in git directories are refused before they exist",
}
TAKEN_AWAY = {
    "protected_names_taken_away": "new protected names at the top and in git directories are taken away as they appear",
}
ALONE = {
    "no_new_names": "nothing new comes into being at the top of the workspace or in .git: that needs leaving it",
}


def promises(kind: str, *, namespaces: bool, guards: bool) -> dict[str, str]:
    """Probe and promise of one kind. `guards`: calls that make names are judged before they are carried out."""
    if kind != "bwrap" and not namespaces:
        return ALWAYS | ALONE
    return ALWAYS | WITH_MOUNTS | (REFUSED if guards else TAKEN_AWAY)
