/** The command lines in an agent's settings, and how to recognize them there. */

import { quoteForShell } from '../../shell-quote.ts'

/** The script that finds the workspace; `HOOK_FINDER`. */
const SHARED_SCRIPT = `"\${XDG_STATE_HOME:-$HOME/.local/state}/casefile/hook"`

/** The sessions of an agent that Casefile started have their own gate, and do not see the script. */
const NOT_IN_RUN = '[ -n "$CASEFILE_RUN" ] || '

/** What the script does with an event; see `hook-script.ts`. */
export type HookKind = 'gate' | 'wait' | 'hold' | 'stop' | 'tell' | 'note'

/** Where the hooks are installed, and what they lead to. */
export interface HookTarget {
  /** The workspace. */
  root: string
  /** The script in the state folder. */
  script: string
  /** In the user's own settings: sessions outside the workspace are left alone. */
  isUser: boolean
  /** In the settings of a project, which many people share: each has the state folder elsewhere. */
  isShared: boolean
  isStrict: boolean
}

interface HookLine {
  agent: string
  kind: HookKind
  /** More words for the script, which the shell expands. */
  more?: readonly string[]
  /** What denies the tool if the script says nothing. */
  denial: string
}

/**
 * The line is short, as an agent shows it to its model, and denies by itself: if it fails or is missing, most agents
 * run the tool. The shell has its path, as a run may write in a folder on the agent's PATH, such as `node_modules/.bin`.
 */
export function hookCommand(
  { root, script, isUser, isShared, isStrict }: HookTarget,
  { agent, kind, more = [], denial }: HookLine,
): string {
  const words = [agent, kind, ...(isStrict ? ['strict'] : []), ...(isUser ? ['user'] : []), ...more]
  const file = isShared ? SHARED_SCRIPT : quoteForShell(script)
  const call = `/bin/sh ${file} ${words.join(' ')}`
  if (kind !== 'gate') return `${call} || :`
  const line = `${NOT_IN_RUN}${call} || printf '%s' ${quoteForShell(denial)}`
  if (!isUser) return line
  const isHere = `case $PWD/ in ${quoteForShell(`${root}/`)}*) ;; *) false ;; esac`
  return `if [ -f ${quoteForShell(script)} ] || ${isHere}; then ${line}; fi`
}

/** The answer of Claude Code and Codex that denies a tool. */
export function claudeDenial(target: HookTarget): string {
  return JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: denialReason(target),
    },
  })
}

export function denialReason({ root, isShared }: HookTarget): string {
  const where = isShared ? 'this project' : root
  return `Casefile does not answer. Start it with: casefile serve (in ${where})`
}

/** Whether a line runs nothing but the script, however its end was changed. Earlier versions wrote `sh`. */
export function isPlainCommand(command: string, script: string): boolean {
  const own = command.startsWith(NOT_IN_RUN) ? command.slice(NOT_IN_RUN.length) : command
  const call = [quoteForShell(script), SHARED_SCRIPT]
    .flatMap((file) => [`/bin/sh ${file} `, `sh ${file} `])
    .find((each) => own.startsWith(each))
  return call !== undefined && PLAIN.test(own.slice(call.length))
}

/** The words of the call, then for example `|| printf '%s' '…'`, `|| true`, `; exit 0`, `2> /dev/null`. */
const PLAIN =
  /^[a-z]+ [a-z]+(?: (?:strict|user|event=\w+|\$PPID))*(?: *(?:\|\||&&|;) *(?::|true|false|exit \d+|printf '%s' '(?:[^']|'\\'')*')| *2?> *\/dev\/null)*$/

/** Recognizes the lines that any version of Casefile wrote for an agent. */
export function isHookCommand(agent: string, command: string): boolean {
  const isAgents = new RegExp(`(?:/hooks/hook'|/casefile/hook") ${agent} [a-z]+\\b`)
  return /\bsh ['"]/.test(command) && isAgents.test(command)
}
