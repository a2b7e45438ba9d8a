import { beginningOf } from '../agents/agent-text.ts'
import type { ToolResult } from '../agents/readable-output.ts'
import { asArray, asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import { MAX_PATHS, MAX_WORD, namedIn } from '../named-input.ts'

/** What is known of a tool call, merged from all of its updates. */
export interface ToolCall {
  id: string
  /** The tool's own name if it is known, else its kind. */
  tool: string
  kind: string | null
  title: string | null
  status: string | null
  /** Every path it names, as written. */
  paths: readonly string[]
  /** The shell commands it would run, if known. */
  commands: readonly string[]
  /** The folder of the commands, if known. */
  folder: string | null
  /** Words that may identify the tool. */
  words: readonly string[]
  /** The text of a plan that it asks to approve. */
  plan: string | null
  /** Whether its input is nothing but a to-do list. */
  isTodoList: boolean
  /** False if it names more than is parsed. */
  isWhole: boolean
}

const MAX_TITLE = 1000

/** `before` is the call from earlier updates: fields that an update omits keep their value. */
export function readToolCall(update: unknown, before?: ToolCall): ToolCall {
  const call = asRecord(update)
  const content = asArray(call.content).map(asRecord)
  const diffs = content.filter(({ type }) => type === 'diff')
  const named = namedIn(call.rawInput)
  const locations = asArray(call.locations).map((each) => asString(asRecord(each).path))
  const found = [...locations, ...diffs.map(({ path }) => asString(path)), ...named.paths]
  const paths = [...new Set([...(before?.paths ?? []), ...found.filter((path) => path !== null)])]
  const kind = asString(call.kind) ?? before?.kind ?? null
  return {
    id: idOf(update),
    tool: beginningOf(asString(call.name) ?? before?.tool ?? kind ?? 'tool', MAX_WORD),
    kind,
    title: titleOf(call) ?? before?.title ?? null,
    status: asString(call.status) ?? before?.status ?? null,
    paths: paths.slice(0, MAX_PATHS),
    commands: named.commands.length > 0 ? named.commands : (before?.commands ?? []),
    folder: named.folder ?? before?.folder ?? null,
    words: [...new Set([...(before?.words ?? []), ...named.words])].slice(0, MAX_PATHS),
    plan: asString(asRecord(call.rawInput).plan) ?? before?.plan ?? null,
    isTodoList: isTodoList(call.rawInput) || before?.isTodoList === true,
    isWhole: paths.length <= MAX_PATHS && named.isWhole && before?.isWhole !== false,
  }
}

export function idOf(update: unknown): string {
  return beginningOf(asString(asRecord(update).toolCallId) ?? '', MAX_WORD)
}

function titleOf({ title }: UnknownRecord): string | null {
  return typeof title === 'string' ? beginningOf(title, MAX_TITLE) : null
}

/** The text of the call's content. For a plan approval, this is the plan. */
export function contentText(update: unknown): string {
  return asArray(asRecord(update).content)
    .map((each) => asString(asRecord(asRecord(each).content).text))
    .filter((text) => text !== null)
    .join('\n\n')
}

const ANSWER_NAMES = ['formatted_output', 'output', 'content', 'stdout', 'error', 'message']

/** The tool's answer, from the update that ends the call. */
export function resultIn(update: UnknownRecord, status: string | null): ToolResult {
  const { rawOutput } = update
  const raw = asRecord(rawOutput)
  const said = [asString(rawOutput), ...ANSWER_NAMES.map((name) => asString(raw[name]))]
  const text = said.find((each) => each) || contentText(update)
  return { status: status === 'failed' ? 'failed' : 'completed', text }
}

const TODO_LIST = /^(?:todos|plan|items|entries|tasks)$/
const TODO_TEXT = ['content', 'description', 'step', 'title', 'text', 'subject']

/** Whether the input is a list of items with states, without a path or command. */
function isTodoList(input: unknown): boolean {
  const fields = Object.entries(asRecord(input))
  const lists = fields.filter(
    ([, value]) => typeof value !== 'string' && typeof value !== 'boolean',
  )
  const [name, list] = lists[0] ?? ['', null]
  const { paths, commands } = namedIn(input)
  return (
    lists.length === 1 &&
    TODO_LIST.test(name) &&
    asArray(list).length > 0 &&
    paths.length + commands.length === 0 &&
    asArray(list).every((item) => {
      const fields = asRecord(item)
      return typeof fields.status === 'string' && TODO_TEXT.some((key) => asString(fields[key]))
    })
  )
}
