import type { AcpSpec } from '../agents/agent.ts'
import { beginningOf } from '../agents/agent-text.ts'
import { isPlanFile } from '../agents/gemini/run.ts'
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
  /** If it writes a plan file: the new text. */
  planFile: string | null
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
    tool: beginningOf(toolName(call) ?? before?.tool ?? kind ?? 'tool', MAX_WORD),
    kind,
    title: titleOf(call) ?? before?.title ?? null,
    status: asString(call.status) ?? before?.status ?? null,
    paths: paths.slice(0, MAX_PATHS),
    commands: named.commands.length > 0 ? named.commands : (before?.commands ?? []),
    folder: named.folder ?? before?.folder ?? null,
    words: [...new Set([...(before?.words ?? []), ...named.words])].slice(0, MAX_PATHS),
    plan: asString(asRecord(call.rawInput).plan) ?? before?.plan ?? null,
    isTodoList: isTodoList(call.rawInput) || before?.isTodoList === true,
    planFile: planFileIn(diffs) ?? before?.planFile ?? null,
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

/** Gemini CLI includes the tool's name only in the call id. */
const GEMINI_ID = /^(\w+)__[0-9a-f]{8}-[0-9a-f-]{27}$/
const MAX_ANSWER = 100_000
const ANSWER_NAMES = ['formatted_output', 'output', 'content', 'stdout', 'error', 'message']

/**
 * The tool's answer, from the update that ends the call; `before` is the output streamed earlier. Some agents report
 * a failed command as completed.
 */
export function resultIn(
  update: UnknownRecord,
  {
    status,
    before,
    readAnswer,
  }: { status: string | null; before: string } & Pick<AcpSpec, 'readAnswer'>,
): ToolResult {
  const { rawOutput } = update
  const raw = asRecord(rawOutput)
  const said = [asString(rawOutput), ...ANSWER_NAMES.map((name) => asString(raw[name]))]
  const whole = said.find((text) => text) || contentText(update) || before
  const { text, exit } = readAnswer(update, whole)
  if (status !== 'failed' && (exit === undefined || exit === 0)) {
    return { status: 'completed', text }
  }
  return { status: 'failed', text: exit === undefined ? text : `exit ${exit}\n${text}` }
}

/** The output of a command, which codex-acp sends in pieces. */
export function printedIn(update: unknown, before: string): string {
  const { terminal_output_delta } = asRecord(asRecord(update)._meta)
  const more = asString(asRecord(terminal_output_delta).data) ?? ''
  return more === '' ? before : (before + more).slice(-MAX_ANSWER)
}

/** The agent's to-do list, if this call carries it. */
export function todosIn(update: unknown): readonly unknown[] | null {
  const { todos } = asRecord(asRecord(update).rawInput)
  const items = asArray(todos)
  return items.length > 0 && items.every((item) => asString(asRecord(item).status)) ? items : null
}

function toolName(call: UnknownRecord): string | null {
  const meta = asRecord(call._meta)
  const named =
    asString(call.name) ?? asString(asRecord(meta.claudeCode).toolName) ?? asString(meta.toolName)
  return named ?? GEMINI_ID.exec(idOf(call))?.[1] ?? null
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

function planFileIn(diffs: readonly UnknownRecord[]): string | null {
  const last = diffs.findLast(({ path }) => isPlanFile(path))
  return last ? asString(last.newText) : null
}
