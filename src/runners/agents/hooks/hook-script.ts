/** The shell script that an agent's hooks run: it sends what the hook reads to the service, and prints the answer. */

import { quoteForShell } from '../../shell-quote.ts'

export interface HookScriptFolders {
  /** The workspace. */
  root: string
  /** The git folder that its worktrees share; null without a repository. */
  gitFolder: string | null
}

/** How long an agent may keep a plan waiting for its decision, in seconds: four days. */
export const PLAN_WAIT_S = 345_600
/** The same for an agent whose terminal takes no key meanwhile; longer than the service keeps it waiting. */
export const PLAN_HOLD_S = 75
/** How long the checks of a plan may take at the end of a turn, in seconds. */
export const STOP_WAIT_S = 3600

/** A hook sends the first, and the service answers with the second: only they know both. */
export const CLIENT_SECRET = 'X-Casefile-Client-Secret'
export const SERVER_SECRET = 'X-Casefile-Server-Secret'

/** Where the script looks for curl, cat and sleep before the PATH of the agent: a run cannot write there. */
export const SYSTEM_FOLDERS = '/usr/bin:/bin:/run/current-system/sw/bin'
export const SYSTEM_FIRST = `PATH=${SYSTEM_FOLDERS}:$PATH\n`

/** Whether the folder is in the workspace `root` or in a working tree of the repository `git`. */
const IS_HERE = `is_here() {
  case $PWD/ in "$root"/*) return 0 ;; esac
  [ -n "$git" ] || return 1
  at=$PWD
  while [ -n "$at" ]; do
    [ -d "$at/.git" ] && return 1
    if [ -f "$at/.git" ]; then
      read -r line < "$at/.git"
      case $line in "gitdir: $git"/worktrees/*) return 0 ;; esac
      return 1
    fi
    at=\${at%/*}
  done
  return 1
}
`

/**
 * It uses only what the shell has built in, besides curl, cat and sleep: each program costs a millisecond of every
 * tool call. The answer is printed only once it is complete: half an answer and the line's own denial would not be
 * JSON, and an agent runs the tool then. `.curlrc` and proxies of the user do not count. An answer counts only with the
 * secret in the file of the address, as another program may have the port of a service that was killed. The other
 * secret is in a file, as everybody can read the arguments of curl.
 */
export function hookScript({ root, gitFolder }: HookScriptFolders): string {
  return `# The hook of Casefile. The service writes this file at each start; it replaces changes.
# sh hook <agent> <kind> [strict] [user] [event=<name>] [<pid of the agent>]
# kind: gate    exits with 1 without an answer, so that the caller denies the tool; a plan waits for a minute
#       wait    asks until the service decides, also after it was restarted on another port
#       hold    the same, but says nothing if no service runs when it begins
#       stop    waits for the checks of the plan
#       tell    says nothing without an answer
#       note    says nothing, and does not wait, except for the end of a plan's dialog
# user: only sessions in the workspace or in a worktree of its repository count
${SYSTEM_FIRST}root=${quoteForShell(root)}
git=${quoteForShell(gitFolder ?? '')}
agent=$1 kind=$2 sent=$2 strict=$CASEFILE_STRICT user= query= pid=$PPID
# a line feed and a carriage return: an empty line, after the headers
blank='
\r' body=
shift 2
for each do
  case $each in
    strict) strict=1 ;;
    user) user=1 ;;
    event=*) query="?$each" ;;
    *) pid=$each ;;
  esac
done
# casefile agent run has announced this one; npm starts Codex by another process
pid=\${CASEFILE_PID:-$pid}
[ "$agent" != claude ] || pid=\${CLAUDE_PID:-$pid}
# the service itself has started this agent, and gates it in its own way
[ -z "$CASEFILE_RUN" ] || exit 0

${IS_HERE}if [ -n "$user" ]; then
  cd -P .
  is_here || { [ -n "$CLAUDE_PROJECT_DIR" ] && cd -P "$CLAUDE_PROJECT_DIR" && is_here; } || exit 0
fi

# in a subshell only, which it ends
post() {
  exec curl -q -sSf -i -m "$1" --connect-timeout 5 --noproxy '*' -H Expect: -H @"\${0%/*}/headers" \\
    -H 'Content-Type: application/json' -H "X-Casefile-Root: $root" -H "X-Casefile-Case: $CASEFILE_CASE" \\
    -H "X-Casefile-Kind: $sent" -H "X-Casefile-Session: $CASEFILE_SESSION" -H "X-Casefile-Pid: $pid" -H "X-Casefile-Strict: $strict" \\
    --data-binary @- "$url/hooks/$agent$query" 2> /dev/null
}

# <seconds>: sends the body, or its own input; 7 is the code of curl if nothing listens
ask() {
  url= service= secret= answer=
  { read -r url < "\${0%/*}/url" && read -r service secret < "\${0%/*}/service"; } 2> /dev/null
  [ -n "$secret" ] || return 7
  kill -0 "$service" 2> /dev/null || return 7
  if [ -n "$body" ]; then
    answer=$(printf '%s' "$body" | post "$1") || return
  else
    answer=$(post "$1") || return
  fi
  case \${answer%%"$blank"*} in
    *"${SERVER_SECRET}: $secret"*) ;;
    *) return 7 ;;
  esac
  answer=\${answer#*"$blank"}
  answer=\${answer#"
"}
}

# <the exit code if no service runs when it begins; empty: wait for one>
decision() {
  was_heard= rejected=0
  until ask ${PLAN_WAIT_S}; do
    case $? in
      7) [ -z "$1" ] || [ -n "$was_heard" ] || exit "$1" ;;
      22) rejected=$((rejected + 1)) && [ $rejected -lt 60 ] || exit \${1:-0} ;;
      *) was_heard=1 ;;
    esac
    kill -0 "$pid" 2> /dev/null || exit \${1:-0}
    sleep 1
  done
}

# the call of a tool is what must be fast, and these two present a plan in another way
case $kind$agent in
  gateclaude | gatecodex)
    ask 5 || exit 1
    printf '%s' "$answer"
    exit 0
    ;;
esac

body=$(cat)
case $kind$body in
  gate*'"tool_name":"exit_plan_mode"'* | gate*'"toolName":"exit_plan_mode"'*) kind=plan ;;
  note*'"tool_name":"ExitPlanMode"'* | note*'"tool_name":"exit_plan_mode"'* | note*'"toolName":"exit_plan_mode"'*) kind=tell ;;
esac
case $kind in
  plan) ask ${PLAN_HOLD_S} || exit 1 ;;
  gate) ask 5 || exit 1 ;;
  wait) decision '' ;;
  hold) decision 0 ;;
  stop) ask ${STOP_WAIT_S} || exit 0 ;;
  note)
    ask 5 > /dev/null 2>&1 &
    exit 0
    ;;
  *) ask 5 || exit 0 ;;
esac
printf '%s' "$answer"
`
}

/**
 * The script that settings shared by many people name, as each has the state folder elsewhere. It finds the workspace
 * of the agent among those that this machine knows, each a file with the lines root, git folder and script.
 */
export const HOOK_FINDER = `# Finds the hook of Casefile for the folder of an agent. Casefile writes this file; it replaces changes.
[ -z "$CASEFILE_RUN" ] || exit 0
cd -P "\${CLAUDE_PROJECT_DIR:-.}" || exit 1

${IS_HERE}
for place in "\${0%/*}"/hook-places/*; do
  root= git= script=
  { IFS= read -r root && IFS= read -r git && IFS= read -r script; } 2> /dev/null < "$place" || continue
  is_here && [ -f "$script" ] && exec /bin/sh "$script" "$@"
done
exit 1
`
