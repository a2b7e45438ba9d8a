import { commandWords } from '../../runners/acp/command-words.ts'

/** Programs that only read, whatever their arguments are. */
const READERS = new Set(
  'basename cat cd cmp cut df diff dirname du echo egrep false fgrep grep head id jq ls nl od printf ps pwd readlink realpath rg sha256sum stat strings tail test tr true uname wc which whoami ['.split(
    ' ',
  ),
)
/** Programs that read with these first words alone. */
const GIT_READERS =
  /^(?:blame|cat-file|describe|diff|grep|log|ls-files|ls-tree|merge-base|rev-list|rev-parse|shortlog|show|show-ref|status)$/
/** Options by which a program that reads writes a file or runs another program. */
const WRITING_OPTION =
  /^(?:--output(?:=|$)|--ext-diff|--textconv|--open-files-in-pager|-O|--pre(?:=|$)|--hostname-bin)/

/**
 * Whether a command only reads, as far as its words show: each program is a known reader, and nothing is redirected
 * into a file. What is not recognized counts as writing.
 */
export function isReadOnlyCommand(command: string): boolean {
  if (command.trim() === '' || /[<>]\(|`|\$\(|<<|\\\n/.test(command)) return false
  const words = commandWords(command)
  let program: string | null = null
  let isFirst = false
  for (const word of words) {
    if (word.isTarget) {
      if (!/^(?:\/dev\/null|[012])$/.test(word.text)) return false
      continue
    }
    if (word.isProgram) {
      program = word.text
      isFirst = true
      if (program !== 'git' && !READERS.has(program)) return false
      continue
    }
    // a variable can name a program, such as git's pager
    if (/^\w+=/.test(word.text) || WRITING_OPTION.test(word.text)) return false
    if (word.text === '--no-pager') continue
    if (program === 'git' && isFirst && !GIT_READERS.test(word.text)) return false
    isFirst = false
  }
  return program !== null && !(program === 'git' && isFirst)
}
