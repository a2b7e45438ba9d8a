/** Which scripts of sed and awk neither write a file nor run a program. */

import type { ShellWord } from '../simple-commands.ts'
import type { Arguments } from './options.ts'

const MAX_SCRIPT = 1000

/** Options of sed that write nothing; `e` is followed by a script. */
const SED_OPTION = /^-([nErszu]*)(?:e(.*))?$/s
const SED_LONG =
  /^--(?:quiet|silent|regexp-extended|separate|null-data|unbuffered|posix|sandbox|version|help|expression=(.*))$/s

export function isReadingSed(args: Arguments): boolean {
  const scripts: string[] = []
  const operands: string[] = []
  let isScript = false
  for (const { text, isExpanded, mayBeOption } of args) {
    const [, letters = '', attached] = SED_OPTION.exec(text) ?? []
    const long = SED_LONG.exec(text)
    if (isScript || attached || long?.[1] !== undefined) {
      if (isExpanded) return false
      scripts.push(isScript ? text : (attached ?? long?.[1] ?? ''))
      isScript = false
    } else if (mayBeOption) return false
    else if (attached === '') isScript = true
    else if (letters === '' && !long) {
      if (/^-./.test(text) || (isExpanded && scripts.length + operands.length === 0)) return false
      operands.push(text)
    }
  }
  const [first] = scripts.length > 0 ? scripts : operands
  const all = scripts.length > 0 ? scripts : [first ?? '']
  return !isScript && all.every(isReadingSedScript)
}

/** Up to the next slash. A list in brackets has none, since programs differ in what that means. */
const PATTERN = String.raw`(?:\\.|\[\^?\]?(?:\[:\w+:\]|[^\][/\n])*\]|[^\\/\n[])*`
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/${PATTERN}/I?)`
const SED_COMMAND = new RegExp(
  String.raw`[ \t\n;]*(?:${ADDRESS}[ \t]{0,4}(?:,[ \t]{0,4}(?:${ADDRESS}|[+~]\d+))?[ \t]{0,4}!?)?[ \t]{0,4}` +
    String.raw`(?:\{|(?:[pPdDnNgGhHxlF=}]|[qQ][ \t]{0,4}\d*|s/${PATTERN}/(?:\\.|[^\\/\n])*/[gpiIm\d]*)[ \t]{0,4}(?:[;\n]|$|(?=\})))`,
  'y',
)

/** It prints, chooses and replaces lines: no `w`, `e`, `r`, labels, or other delimiters than the slash. */
function isReadingSedScript(script: string): boolean {
  if (script === '' || script.length > MAX_SCRIPT) return false
  for (let at = 0; at < script.length; at = SED_COMMAND.lastIndex) {
    SED_COMMAND.lastIndex = at
    if (!SED_COMMAND.test(script)) return /^[ \t\n;]*$/.test(script.slice(at))
  }
  return true
}

/** `system`, indirect calls and pipes run programs; `print > file` writes one. */
const AWK_RUNS = /system|@|\|/

export function isReadingAwk(args: Arguments): boolean {
  let at = 0
  while (/^-[Fv]/.test(args[at]?.text ?? '')) at += args[at]!.text.length === 2 ? 2 : 1
  // options behind the script are arguments for some programs only
  if (
    args.some(({ mayBeOption }, index) => mayBeOption || (index >= at && isOption(args[index])))
  ) {
    return false
  }
  const script = args[at]
  if (!script || script.isExpanded || script.text.length > MAX_SCRIPT) return false
  if (AWK_RUNS.test(script.text.replaceAll('||', ' '))) return false
  const print = script.text.indexOf('print')
  return print < 0 || !script.text.includes('>', print)
}

const isOption = (word: ShellWord | undefined) => /^-./.test(word?.text ?? '')
