import { simpleCommands } from '../../runners/acp/command-words.ts'

/** Programs that only read, whatever their arguments are. */
const READERS = new Set(
  'basename cat cd cmp cut df diff dirname du echo egrep false fgrep grep head id jq ls nl od printf ps pwd readlink realpath rg sha256sum stat strings tail test tr true uname wc which whoami ['.split(
    ' ',
  ),
)
/** Programs that read with these first words alone. */
const GIT_READERS =
  /^(?:blame|cat-file|describe|diff|grep|log|ls-files|ls-tree|merge-base|rev-list|rev-parse|shortlog|show|show-ref|status)$/
/** Options by which a program that reads writes a file or runs another program; git takes them abbreviated. */
const WRITING_OPTION = /^--(?:ou|op|ext|textc|filt|pre(?:=|$)|hostname-bin)/
/** Those of one letter, which may follow others. */
const WRITING_LETTER: Readonly<Record<string, RegExp>> = {
  git: /^-\w*O/,
  printf: /^-v/,
  test: /^-v/,
  '[': /^-v/,
}
/** Braces that a shell expands can hide an option. */
const BRACES = /\{[^}]*(?:,|\.\.)/
/** `2>&1`, and what comes from or goes to /dev/null. */
const HARMLESS_REDIRECTION =
  /(?<![\\\w])(?:[12]?>&[12]|(?:&|[12])?>>? ?\/dev\/null|<[ ]?\/dev\/null)(?=[\s;|&)]|$)/g
/** Other commands inside, and expansions that set a variable or run what one says. */
const NESTED = /[<>]\(|`|\$\(|<<|\\\n|\$\[|\$\{(?!\w+\})/

/**
 * Whether a command only reads, as far as its words show: each program is a known reader, and nothing is redirected
 * into a file. What is not recognized counts as writing.
 */
export function isReadOnlyCommand(command: string): boolean {
  if (NESTED.test(command)) return false
  const commands = simpleCommands(command.replace(HARMLESS_REDIRECTION, ' ')) ?? []
  return (
    commands.length > 0 &&
    commands.every(({ words, written }) => written.length === 0 && isReading(words))
  )
}

function isReading([program = '', ...rest]: readonly string[]): boolean {
  const isGit = program === 'git'
  if (!isGit && !READERS.has(program)) return false
  const words = rest[0] === '--no-pager' ? rest.slice(1) : rest
  if (isGit && !GIT_READERS.test(words[0] ?? '')) return false
  return !words.some(
    (word) =>
      // a variable can name a program, such as git's pager
      /^\w+=/.test(word) ||
      WRITING_OPTION.test(word) ||
      WRITING_LETTER[program]?.test(word) ||
      ((isGit || program === 'rg') && BRACES.test(word)),
  )
}
