/**
 * The shell scripts of the helper of an enclosure. Its standard input is a pipe that this service has open, descriptor 3 is
 * for commands and reports, 5 is the table of mounts. Its variables cannot clash with the program's.
 */

import { fileURLToPath } from 'node:url'
import { workerFile } from '../../package-files.ts'
import { openFilePath } from '../../platform/proc.ts'
import {
  FIRST_DESCRIPTOR,
  MOST_OPENED,
  type MountPlan,
  type SandboxFolders,
} from '../process/sandbox-plan.ts'
import { quoteForShell } from '../shell-quote.ts'

const END_LEFT = [process.execPath, fileURLToPath(workerFile('runners/process/end-left-main.ts'))]
  .map(quoteForShell)
  .join(' ')
const DESCRIPTORS = Array.from({ length: MOST_OPENED }, (_, index) => FIRST_DESCRIPTOR + index)

/**
 * The first child waits for the end of this service, and collects orphans. In a process namespace it is the first
 * process: its end is the end of all others. Elsewhere the service writes which programs it starts, and `done` if it ends the
 * run itself. Trap: dash gives `/dev/null` to what it starts in the background.
 */
const WATCH = `
exec 4<&0 </dev/null
(
  (
    casefile_left=
    while read -r casefile_line; do casefile_left="$casefile_left $casefile_line"; done
    case $casefile_left in
      '' | *' done') ;;
      *) unset NODE_OPTIONS; cd / && exec ${END_LEFT} $casefile_left ;;
    esac
  ) <&4 3>&- &
  echo watching >&3
  exec 3>&- 4<&-
  wait
) 2>/dev/null 5<&- &
exec 4<&-
`

/**
 * Behind the word `memory`, makes the layer of an overlay. Opens the hidden folders up to `in`, makes the mounts of the
 * table in one call of `mount`, then checks pairs of a word (or a number of entries) and a path, up to `run`. The words
 * after that drop the power to undo the mounts.
 */
const MOUNT = `
wrong() { printf '%s %s\\n' "$2" "$1" >&2; exit 1; }
casefile_mount=$1
shift
if [ "$1" = memory ]; then
  "$casefile_mount" -n -t tmpfs -o mode=0700,nosuid,nodev casefile-layer "$2" || exit
  command -p mkdir -- "$2/upper" "$2/work" || exit
  shift 2
fi
for casefile_number in ${DESCRIPTORS.join(' ')}; do
  [ "$1" != in ] || break
  eval "exec $casefile_number<\\"\\$1\\"" || exit
  shift
done
shift
"$casefile_mount" -n -c -a -T ${openFilePath(5)} || exit
exec 5<&- ${DESCRIPTORS.map((number) => `${number}<&-`).join(' ')}
while [ "$1" != run ]; do
  case $1 in
    closed)
      if [ -d "$2" ] || [ -f "$2" ]; then
        [ ! -w "$2" ] || wrong 'is still writable' "$2"
      fi ;;
    open) [ -w "$2" ] || wrong 'is no longer writable' "$2" ;;
    blank) [ ! -f "$2" ] || wrong 'still shows its content' "$2" ;;
    *)
      casefile_count=0
      for casefile_entry in "$2"/* "$2"/.[!.]* "$2"/..?*; do
        if [ -e "$casefile_entry" ] || [ -L "$casefile_entry" ]; then
          casefile_count=$((casefile_count + 1))
        fi
      done
      [ "$casefile_count" -eq "$1" ] || wrong 'still shows its content' "$2" ;;
  esac
  shift 2
done
shift
exec "$@" <&3
`

/** A shell that reads its commands from descriptor 3: programs of the same user could change a file, and write to a pipe. */
const SHELL = '/bin/sh'
const NAME = 'casefile'

/** The first command. Job control, if there is any, makes a process group of each program on systems without setsid. */
export function readyCommand(hasSetsid: boolean): string {
  return `${hasSetsid ? '' : 'set -m; '}exec 2>&3; echo "ready\${BASH_VERSION:+ bash}" >&3\n`
}

/**
 * Runs a start script, and reports how it ended; the shell itself says on standard error if a signal ended it. In the
 * foreground, because what a shell starts in the background ignores SIGINT. One command, so that the shell reads no
 * further before its end.
 */
export function startCommand(script: string): string {
  return `(${script}); echo "exit $?" >&3\n`
}

/** The words of a helper without mounts. */
export function plainHelper(): string[] {
  return [SHELL, '-c', `${WATCH}exec ${SHELL} <&3`, NAME]
}

/** The words behind `unshare` of a helper that makes mounts; `drop` are the words that drop its power to undo them. */
export function mountHelper(
  mount: string,
  { opened, checks, overlay }: MountPlan & Pick<SandboxFolders, 'overlay'>,
  drop: readonly string[],
): string[] {
  const rest = [...drop, SHELL]
  const script = `${WATCH}${MOUNT}`
  const memory = overlay?.inMemory ? ['memory', overlay.layer] : []
  return [SHELL, '-c', script, NAME, mount, ...memory, ...opened, 'in', ...checks, 'run', ...rest]
}
