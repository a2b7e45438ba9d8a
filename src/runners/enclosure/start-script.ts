/** The shell script that starts one program in an enclosure, in the folder of its named pipes. */

import { SHOWS_PROCESSES } from '../../platform/proc.ts'
import { quoteForShell } from '../shell-quote.ts'

export interface StartFacts {
  /** The program, an absolute path, and its arguments, with all words before it. */
  words: readonly string[]
  cwd: string
  within: string | undefined
  env: Readonly<Record<string, string>>
  /** The environment of the helper, from which the shell starts. */
  inherited: Readonly<Record<string, string>>
  /** What it reads: a name in the folder of the pipes, or `/dev/null`. */
  input: string
  output: string
  errors: string
}

/** What a shell can set. It passes on no other variable that it gets, and keeps some for itself. */
const SETTABLE =
  /^(?!(?:PPID|UID|EUID|SHELLOPTS|BASHOPTS|BASH_VERSINFO|OPTIND|PWD|OLDPWD)$)[A-Za-z_]\w*$/

/**
 * Opens the pipes, enters the folder (below the mounts), reports that, and waits for a line: if this service is gone, the
 * program never runs. The program gets none of the descriptors of the helper.
 */
export function startScript(facts: StartFacts): string {
  const { words, cwd, within, env, inherited, input, output, errors } = facts
  const names = [...new Set([...Object.keys(inherited), ...Object.keys(env)])]
  const changed = names.filter((name) => SETTABLE.test(name) && env[name] !== inherited[name])
  const gone = changed.filter((name) => env[name] === undefined)
  const set = changed.filter((name) => env[name] !== undefined)
  return [
    `exec 4<${input} 5>${output} 6>${errors} || exit`,
    `cd -P -- ${quoteForShell(cwd)} || exit`,
    ...(within === undefined ? [] : [mustBeWithin(within)]),
    `unset ${['OLDPWD', ...gone].join(' ')}`,
    ...set.map((name) => `export ${name}=${quoteForShell(env[name]!)}`),
    SHOWS_PROCESSES ? 'echo begun >&3' : `/bin/sh -c 'echo "begun $PPID" >&3'`,
    'read -r casefile_go <&3 && [ "$casefile_go" = : ] || exit',
    'exec <&4 >&5 2>&6 3>&- 4<&- 5>&- 6>&-',
    `exec ${words.map(quoteForShell).join(' ')}`,
  ].join('\n')
}

/** An earlier program may have replaced the folder by a link. */
function mustBeWithin(folder: string): string {
  const elsewhere = 'echo "its folder leads outside of the working folder" >&3; exit'
  return `case $PWD/ in ${quoteForShell(folder)}/*) ;; *) ${elsewhere} ;; esac`
}
