import { Command, InvalidArgumentError } from 'commander'
import type { CommentJson } from '../../../http/schemas/comment.ts'
import type { SessionJson } from '../../../http/schemas/session.ts'
import { planLines } from '../../../markdown/plan-lines.ts'
import { counted } from '../../../model/amounts.ts'
import { AppError } from '../../../model/app-error.ts'
import { caseArgument, explain, sessionArgument } from '../../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../../context.ts'
import { commentText } from '../../output/comment-text.ts'
import { EXIT, type ExitCode, usageError } from '../../output/exit-codes.ts'
import { jsonText } from '../../output/json.ts'
import { shownLine } from '../../output/shown-line.ts'
import { resolveCase } from '../../resolve/case.ts'
import { commentedSessions, resolveComment } from '../../resolve/comment.ts'
import { resolveSession, sessionPath } from '../../resolve/find-session.ts'
import { MESSAGE, withTypedText } from '../../typed-text.ts'

interface Range {
  line: number
  end_line?: number
}

interface Options extends CommandOptions, Partial<Record<Change, string>> {
  message?: string
  line?: Range
  step?: string
  file?: Range & { file: string }
  old?: boolean
  list?: boolean
}

/** Options that name a comment. */
const CHANGES = {
  reply: 'Reply to this comment.',
  edit: 'Change the text of this draft.',
  delete: 'Delete this draft.',
  resolve: 'Mark this comment as resolved.',
  reopen: 'Open this resolved comment again.',
} as const
type Change = keyof typeof CHANGES

/** `casefile session comment`: comments on plans and diffs. */
export function commentCommand(): Command {
  const command = new Command('comment')
    .summary('Comment on its plan or its diff, and see the replies.')
    .description('Draft a comment on a plan or a diff, list comments, or change one.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('the newest; with --list all'))
    .option(...MESSAGE)
    .option(
      '--line <lines>',
      'Lines of the plan: 12 or 12-14. Default: the whole plan. A line beyond its end lists it with numbers.',
      parseLines,
    )
    .option('--step <id>', 'A step of the plan, instead of lines.')
    .option('--file <place>', 'Lines of the diff: src/a.ts:40 or src/a.ts:40-42.', parsePlace)
    .option('--old', 'With --file: the lines before the change.')
    .option('--list', 'List comments with their status and replies, oldest first.')
  for (const [name, description] of Object.entries(CHANGES)) {
    command.option(`--${name} <comment>`, description)
  }
  command.action((name: string, word: string | undefined, options: Options) =>
    run(name, word, options),
  )
  return explain(command, {
    examples: [
      ['casefile session comment "sign-in" --line 12 -m "Why?"', 'On a line.'],
      ['casefile session comment c12d --step test', 'On a step, in your editor.'],
      ['casefile session comment c12d 2 --file a.ts:4-9 -m "Why?"', 'On a diff.'],
      ['casefile session comment c12d --reply 3f2a -m "Keep it."', 'A reply.'],
    ],
    more: 'The agent gets drafts with casefile revise, approve, or start --again. Status: draft (not sent), stale (not sent, and its lines are gone), open (sent), addressed (its lines have changed since, or it was answered), resolved.',
    exits: [EXIT.unknown],
  })
}

async function run(name: string, word: string | undefined, options: Options): Promise<void> {
  const changes = (Object.keys(CHANGES) as Change[]).filter((each) => options[each] !== undefined)
  const [change] = changes
  if (changes.length + (options.list ? 1 : 0) > 1) {
    throw usageError(
      `Choose one of --list, ${Object.keys(CHANGES)
        .map((each) => `--${each}`)
        .join(', ')}.`,
    )
  }
  if (options.list) return withReader(options, (context) => listComments(context, name, word))
  if (change === undefined) {
    return withService(options, (context) => addComment(context, name, word, options))
  }
  return withService(options, (context) => changeComment(context, name, change, options))
}

async function changeComment(
  context: CommandContext,
  name: string,
  change: Change,
  options: Options,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const caseId = await resolveCase(client, name)
  const { comment, path } = await resolveComment(client, caseId, options[change]!)
  const { message } = options
  switch (change) {
    case 'delete':
      await client.request('DELETE', path)
      terminal.print(json ? jsonText(comment) : `deleted  ${comment.id}\n`)
      return EXIT.done
    case 'resolve':
    case 'reopen': {
      const body = { resolved: change === 'resolve' }
      return printComment(context, (await client.request('PUT', path, { body })).body)
    }
    case 'edit': {
      const about = ['Change the text of your comment.']
      return withTypedText(context, message, { present: comment.text, about }, async (text) =>
        printComment(context, (await client.request('PUT', path, { body: { text } })).body),
      )
    }
    case 'reply': {
      const about = [`Reply to ${comment.author}:`, ...comment.text.split('\n')]
      return withTypedText(context, message, { about }, async (text) => {
        const answer = await client.request('POST', `${path}/replies`, { body: { text } })
        return printComment(context, answer.body)
      })
    }
    default:
      return change satisfies never
  }
}

async function addComment(
  context: CommandContext,
  name: string,
  word: string | undefined,
  options: Options,
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const { line, step, file, old } = options
  const places = [line, step, file].filter((each) => each !== undefined)
  if (places.length > 1) throw usageError('Choose one of --line, --step and --file.')
  if (old && !file) throw usageError('--old needs --file.')
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word, { waiting: file === undefined })
  const place = file
    ? { diff: { ...file, side: old ? 'old' : 'new' } }
    : { ...line, step, plan_sha256: session.plan_sha256 ?? undefined }
  requireLine(session, line)
  const about = aboutPlace(session, options)
  return withTypedText(context, options.message, { about }, async (text) => {
    const body = { text, ...place }
    const answer = await client.request('POST', `${sessionPath(session)}/comments`, { body })
    const code = printComment(context, answer.body)
    if (!json) terminal.say(`Next: ${await nextOf(context, session)}`)
    return code
  })
}

/** Throws, with the numbered lines of the plan, if it does not have these. */
function requireLine({ number, plan }: SessionJson, range: Range | undefined): void {
  const lines = planLines(plan)
  if (!range || plan === '' || (range.end_line ?? range.line) <= lines.length) return
  const numbered = lines.map((line, index) => `${String(index + 1).padStart(4)}  ${line}`)
  const text = [`The plan of session ${number} has ${counted(lines.length, 'line')}:`, ...numbered]
  throw new AppError('bad_request', text.map(shownLine).join('\n'))
}

/** How the comments of a session reach its agent. */
async function nextOf({ client }: ReadContext, { case_id, id }: SessionJson): Promise<string> {
  const path = sessionPath({ case_id, id })
  const { number, state, comments }: SessionJson = (await client.request('GET', path)).body
  const place = `${case_id.slice(0, 8)} ${number}`
  const drafts = counted(comments.draft, 'comment')
  if (state === 'plan_ready') return `casefile revise ${place} sends ${drafts} to the agent`
  return `casefile start ${case_id.slice(0, 8)} --again ${number} plans again with ${drafts}`
}

/** The lines that a comment is about, for the editor. */
function aboutPlace({ number, plan }: SessionJson, { line, step, file }: Options): string[] {
  if (file) return [`Comment on ${file.file}:${file.line} in the diff of session ${number}.`]
  if (step !== undefined) return [`Comment on step ${step} of the plan of session ${number}.`]
  if (!line) return [`Comment on the plan of session ${number}.`]
  const lines = planLines(plan).slice(line.line - 1, line.end_line ?? line.line)
  return [`Comment on line ${line.line} of the plan of session ${number}:`, '', ...lines]
}

async function listComments(
  { client, terminal, json }: ReadContext,
  name: string,
  word: string | undefined,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const found =
    word === undefined
      ? await commentedSessions(client, id)
      : [await resolveSession(client, id, word)]
  const all: CommentJson[] = found.flatMap(({ comments }) => comments.list)
  if (json) terminal.print(jsonText(all))
  else if (all.length === 0) {
    terminal.say(`no comments\nNext: casefile session comment ${id.slice(0, 8)} --line 1`)
  } else {
    const parts = found.map(({ number, comments }) => {
      const title = terminal.color.bold(`Session ${number}`)
      return `${title}\n\n${comments.list.map((each) => commentText(each, terminal)).join('\n')}`
    })
    terminal.print(parts.join('\n'))
  }
  return EXIT.done
}

function printComment({ terminal, json }: ReadContext, comment: CommentJson): ExitCode {
  terminal.print(json ? jsonText(comment) : commentText(comment, terminal))
  return EXIT.done
}

function parseLines(text: string): Range {
  const [, line, end] = /^([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?$/.exec(text) ?? []
  if (line === undefined) throw new InvalidArgumentError('Expected a line such as 12, or 12-14.')
  return end === undefined ? { line: Number(line) } : { line: Number(line), end_line: Number(end) }
}

function parsePlace(text: string): Range & { file: string } {
  const [, file, lines] = /^(.+):([\d-]+)$/s.exec(text) ?? []
  if (file === undefined || lines === undefined)
    throw new InvalidArgumentError('Expected a file and a line, such as src/a.ts:40.')
  return { file, ...parseLines(lines) }
}
