import type { Argument, Command, Option } from 'commander'
import type { TriageRowJson } from '../http/schemas/case.ts'
import { ATTENTION_KINDS } from '../model/attention.ts'
import type { NamedField } from '../model/case-fields.ts'
import { CASE_STATES } from '../model/case-state.ts'
import { stateLabel } from '../model/state-groups.ts'
import { KNOWN_CASE_TYPES, KNOWN_OUTCOMES, KNOWN_PROOF_TYPES } from '../model/suggested-values.ts'
import { defaultSubcommand, type ProgramContext } from './command.ts'
import { SET_FIELDS } from './commands/set.ts'
import { COMMANDS, commandsFor } from './commands.ts'
import { withReader } from './context.ts'
import { EXIT } from './output/exit-codes.ts'
import { oneLineText } from './output/shown-line.ts'
import { casefile } from './program.ts'
import { resolveCase } from './resolve/case.ts'
import { commentedSessions } from './resolve/comment.ts'
import { proofsOf } from './resolve/find-proof.ts'
import { sessionsOf } from './resolve/find-session.ts'

/** Completions: a word and its meaning. */
type Words = (readonly [word: string, meaning?: string])[]

/** Makes the shell complete file names itself. */
const FILES: Words = [[':files']]
const HELP = ['--help', 'Show this help.'] as const
const MOST_CASES = 50

/**
 * `casefile __complete <words>`, which the completion scripts call: prints the completions of the last word, one per
 * line, with the meaning after a tab. On an error it prints nothing, because a shell could not show it.
 */
export async function complete(context: ProgramContext, typed: readonly string[]): Promise<void> {
  const words = typed.filter((word) => word !== '=')
  const current = (words.at(-1) ?? '').replace(/^["']/, '')
  const found = await candidates(context, words.slice(0, -1), current).catch((): Words => [])
  const isFiles = found === FILES
  const lower = current.toLowerCase()
  for (const [word, meaning = ''] of found) {
    if (!isFiles && !word.toLowerCase().startsWith(lower)) continue
    process.stdout.write(`${oneLineText(word)}\t${oneLineText(meaning)}`.trimEnd().concat('\n'))
  }
  process.exitCode = EXIT.done
}

async function candidates(
  context: ProgramContext,
  [name, ...before]: readonly string[],
  current: string,
): Promise<Words> {
  if (name === undefined) {
    if (current.startsWith('-')) return [HELP, ['--version', 'Print the version.']]
    return casefile(context, { ...COMMANDS, Hidden: {} }).commands.map(describeCommand)
  }
  let command = casefile(context, commandsFor(name)).commands.find((each) => each.name() === name)
  if (!command) return []
  let rest = before
  if (command.commands.length > 0) {
    const [sub, ...others] = before
    if (sub === undefined) {
      const fallback = defaultSubcommand(command)
      const others = fallback ? await completeFor(fallback, [], current, name) : []
      return [...command.commands.map(describeCommand), ...others]
    }
    const chosen = command.commands.find((each) => each.name() === sub)
    if (chosen) rest = others
    command = chosen ?? defaultSubcommand(command)
    if (!command) return []
  }
  return completeFor(command, rest, current, name)
}

async function completeFor(
  command: Command,
  rest: readonly string[],
  current: string,
  name: string,
): Promise<Words> {
  if (current.startsWith('-')) {
    const flags = command.options.filter(({ hidden }) => !hidden)
    return [...flags.map(({ long, description }) => [long ?? '', description] as const), HELP]
  }
  const { positional, open } = readWords(command, rest)
  const expected = open ?? command.registeredArguments[positional.length] ?? variadicOf(command)
  return expected ? wordsFor(expected, { positional, given: rest, current, name }) : []
}

function describeCommand(command: Command): readonly [string, string] {
  return [command.name(), command.description()]
}

function variadicOf({ registeredArguments }: Command): Argument | undefined {
  const last = registeredArguments.at(-1)
  return last?.variadic ? last : undefined
}

/** Splits words into arguments and the option that still needs its value. */
function readWords(command: Command, words: readonly string[]) {
  const positional: string[] = []
  let open: Option | null = null
  for (const word of words) {
    if (open) {
      open = null
      continue
    }
    if (!word.startsWith('-') || word === '-') positional.push(word)
    else
      open =
        command.options.find(
          ({ long, short, required }) => required && (word === long || word === short),
        ) ?? null
  }
  return { positional, open }
}

interface Completion {
  positional: readonly string[]
  given: readonly string[]
  current: string
  name: string
}

async function wordsFor(expected: Option | Argument, place: Completion): Promise<Words> {
  if (expected.argChoices) return expected.argChoices.map((each) => [each] as const)
  const name = 'long' in expected ? expected.attributeName() : expected.name()
  const known = (words: readonly string[]): Words => words.map((word) => [word] as const)
  switch (name) {
    case 'case':
    case 'parent':
      return reading(place, (client) => casesFor(client, place.current))
    case 'session':
      return reading(place, async (client) => {
        const sessions = await sessionsOf(
          client,
          await resolveCase(client, place.positional[0] ?? ''),
        )
        const numbered = sessions.map(
          ({ number, state, type }) => [String(number), `${type}, ${state}`] as const,
        )
        return [...numbered, ['latest', 'the newest']]
      })
    case 'reply':
    case 'edit':
    case 'delete':
    case 'resolve':
    case 'reopen':
      return reading(place, async (client) => {
        const id = await resolveCase(client, place.positional[0] ?? '')
        return (await commentedSessions(client, id)).flatMap(({ comments }) =>
          comments.list.map(
            ({ id, status, text }) => [id, `${status}: ${text}`.slice(0, 80)] as const,
          ),
        )
      })
    case 'proof':
      return reading(place, async (client) => {
        const proofs = await proofsOf(client, await resolveCase(client, place.positional[0] ?? ''))
        return proofs.map(
          ({ id, type, verified }) =>
            [id.slice(0, 8), `${type}, ${verified ? 'verified' : 'not verified'}`] as const,
        )
      })
    case 'field=value':
      return fieldWords(place)
    case 'state':
      return CASE_STATES.map((state) => [state, stateLabel(state)] as const)
    case 'needs':
      return known(['any', ...ATTENTION_KINDS])
    case 'outcome':
      return known(KNOWN_OUTCOMES)
    case 'type':
      return known(place.name === 'prove' ? KNOWN_PROOF_TYPES : KNOWN_CASE_TYPES)
    case 'file':
    case 'dir':
    case 'root':
    case 'memoryRoot':
    case 'stateDir':
    case 'workdir':
      return FILES
    default:
      return []
  }
}

/** Completes `state=BLO`, which bash splits into three words. */
function fieldWords({ positional, current }: Completion): Words {
  const before = SET_FIELDS.find(({ name }) => name === positional.at(-1))
  const valuesOf = ({ values, known }: NamedField) => values ?? known ?? []
  if (before) return valuesOf(before).map((value) => [value])
  const typed = SET_FIELDS.find(({ name }) => current.startsWith(`${name}=`))
  if (typed) return valuesOf(typed).map((value) => [`${typed.name}=${value}`])
  return SET_FIELDS.map(({ name, about }) => [`${name}=`, about])
}

type Client = Parameters<typeof resolveCase>[0]

/** Reads from the API, in the workspace that the typed words name. */
async function reading(
  { given }: Completion,
  ask: (client: Client) => Promise<Words>,
): Promise<Words> {
  let words: Words = []
  const optionValue = (flag: string) => {
    const index = given.indexOf(flag)
    return index === -1 ? undefined : given[index + 1]
  }
  const options = {
    root: optionValue('--root') ?? (process.env.CASEFILE_ROOT || undefined),
    memoryRoot: optionValue('--memory-root') ?? (process.env.CASEFILE_MEMORY_ROOT || undefined),
    stateDir: optionValue('--state-dir') ?? (process.env.CASEFILE_STATE_DIR || undefined),
  }
  await withReader(options, async ({ client }) => {
    words = await ask(client)
    return EXIT.done
  })
  return words
}

/** Matches the start of the id, or a part of the title that begins with the typed text. */
async function casesFor(client: Client, current: string): Promise<Words> {
  const named = current === '' ? '' : `named=${encodeURIComponent(current)}&`
  const { body } = await client.request('GET', `/triage?${named}limit=${MOST_CASES}`)
  const cases: TriageRowJson[] = body
  return cases.map(({ id, title, state }) => {
    const at = title.toLowerCase().indexOf(current.toLowerCase())
    if (id.startsWith(current.toLowerCase()))
      return [id.slice(0, 8), `${title} (${state})`] as const
    return [current + title.slice(at + current.length), `${id.slice(0, 8)} (${state})`] as const
  })
}
