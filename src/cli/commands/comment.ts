import { buffer } from 'node:stream/consumers'
import { Command, InvalidArgumentError } from 'commander'
import { textOf } from '../../client/memory-change.ts'
import type { CommentJson } from '../../http/schemas/comment.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { planLines } from '../../markdown/plan-lines.ts'
import { counted } from '../../model/amounts.ts'
import { caseArgument, explain, sessionArgument } from '../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { commentText } from '../output/comment-text.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { historyText } from '../output/history-text.ts'
import { jsonText } from '../output/json.ts'
import { resolveCase } from '../resolve/case.ts'
import { commentsOf, commentsOfCase, resolveComment } from '../resolve/comment.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'

/** `casefile comment …`: comments on a case, and on plans and diffs. */
export function command(): Command {
  const comment = new Command('comment').description(
    'Comment on a case, a plan or a diff, and see the replies.',
  )
  comment.addCommand(addCommand(), { isDefault: true })
  for (const each of [
    listCommand(),
    editCommand(),
    deleteCommand(),
    resolveCommand(),
    reopenCommand(),
    replyCommand(),
  ])
    comment.addCommand(each)
  return comment
}

interface Range {
  line: number
  end_line?: number
}

interface AddOptions extends TextOptions {
  line?: Range
  step?: string
  file?: Range & { file: string }
  old?: boolean
}

interface TextOptions extends CommandOptions {
  message?: string
}

const MESSAGE = ['-m, --message <text>', 'The text; - reads it. Default: your editor.'] as const

function addCommand(): Command {
  const command = new Command('add')
    .description('Comment on a case; with -m or a place, draft one on its plan or diff.')
    .addArgument(caseArgument())
    .argument('[text...]', 'The comment. With -m or a place: the session.')
    .option(...MESSAGE)
    .option(
      '--line <lines>',
      'Lines of the plan: 12 or 12-14. Default: the whole plan.',
      parseLines,
    )
    .option('--step <id>', 'A step of the plan, instead of lines.')
    .option('--file <place>', 'Lines of the diff: src/a.ts:40 or src/a.ts:40-42.', parsePlace)
    .option('--old', 'With --file: the lines before the change.')
    .action((name: string, words: string[], options: AddOptions) =>
      withService(options, (context) => add(context, name, words, options)),
    )
  return explain(command, {
    examples: [
      ['casefile comment "sign-in" "It began on Friday."', 'Add it to the history of the case.'],
      ['casefile comment "sign-in" --line 12 -m "Use the unit tests only."', 'Comment on a line.'],
      ['casefile comment "sign-in" --step test', 'Write about a step in your editor.'],
      ['casefile comment c12d 2 --file src/auth.ts:40-42 -m "Why 60?"', 'Comment on a diff.'],
    ],
    more: 'The agent gets drafts with casefile revise, approve, or start --again.',
    exits: [EXIT.unknown],
  })
}

function listCommand(): Command {
  const list = new Command('list')
    .description('List comments with their status and replies, oldest first.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('all sessions'))
    .action((name: string, word: string | undefined, options: CommandOptions) =>
      withReader(options, (context) => listComments(context, name, word)),
    )
  return explain(list, {
    examples: [['casefile comment list "sign-in"', 'What the agent addressed.']],
    more: 'Status: draft (not sent), stale (not sent, and its lines are gone), open (sent), addressed (its lines have changed since, or it was answered), resolved.',
    exits: [EXIT.unknown],
  })
}

/** A subcommand that names a comment. */
function commentCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addArgument(caseArgument())
    .argument('<comment>', 'Its id, or the start of it.')
}

function editCommand(): Command {
  const edit = commentCommand('edit', 'Change the text of a draft.')
    .option(...MESSAGE)
    .action((name: string, word: string, options: TextOptions) =>
      withService(options, async (context) => {
        const { comment, path } = await find(context, name, word)
        const about = ['Change the text of your comment.']
        return withText(context, options, { present: comment.text, about }, async (text) =>
          printComment(
            context,
            (await context.client.request('PUT', path, { body: { text } })).body,
          ),
        )
      }),
    )
  return explain(edit, {
    examples: [['casefile comment edit "sign-in" 3f2a -m "Keep the clock."', 'Before it is sent.']],
    exits: [EXIT.unknown],
  })
}

function deleteCommand(): Command {
  const remove = commentCommand('delete', 'Delete a draft.').action(
    (name: string, word: string, options: CommandOptions) =>
      withService(options, async (context) => {
        const { client, terminal, json } = context
        const { comment, path } = await find(context, name, word)
        await client.request('DELETE', path)
        terminal.print(json ? jsonText(comment) : `deleted  ${comment.id}\n`)
        return EXIT.done
      }),
  )
  return explain(remove, {
    examples: [['casefile comment delete "sign-in" 3f2a', 'Sent comments can be resolved.']],
    exits: [EXIT.unknown],
  })
}

function resolveCommand(): Command {
  return explain(markCommand('resolve', 'Mark a comment as resolved.', true), {
    examples: [['casefile comment resolve "sign-in" 3f2a', 'It needs nothing more.']],
    exits: [EXIT.unknown],
  })
}

function reopenCommand(): Command {
  return explain(markCommand('reopen', 'Open a resolved comment again.', false), {
    examples: [['casefile comment reopen "sign-in" 3f2a', 'It was resolved too early.']],
    exits: [EXIT.unknown],
  })
}

function markCommand(name: string, description: string, resolved: boolean): Command {
  return commentCommand(name, description).action(
    (name: string, word: string, options: CommandOptions) =>
      withService(options, async (context) => {
        const { path } = await find(context, name, word)
        const answer = await context.client.request('PUT', path, { body: { resolved } })
        return printComment(context, answer.body)
      }),
  )
}

function replyCommand(): Command {
  const reply = commentCommand('reply', 'Reply to a comment.')
    .option(...MESSAGE)
    .action((name: string, word: string, options: TextOptions) =>
      withService(options, async (context) => {
        const { comment, path } = await find(context, name, word)
        const about = [`Reply to ${comment.author}:`, ...comment.text.split('\n')]
        return withText(context, options, { present: '', about }, async (text) => {
          const answer = await context.client.request('POST', `${path}/replies`, { body: { text } })
          return printComment(context, answer.body)
        })
      }),
    )
  return explain(reply, {
    examples: [['casefile comment reply "sign-in" 3f2a -m "Good, keep it."', 'Answer the agent.']],
    exits: [EXIT.unknown],
  })
}

async function find(context: ReadContext, name: string, word: string) {
  return resolveComment(context.client, await resolveCase(context.client, name), word)
}

async function add(
  context: CommandContext,
  name: string,
  words: string[],
  options: AddOptions,
): Promise<ExitCode> {
  const { line, step, file, message } = options
  const isOnPlan = [line, step, file, message].some((each) => each !== undefined)
  const isSession = words.length === 0 || (words.length === 1 && /^\d+$/.test(words[0]!))
  if (isOnPlan || isSession) {
    if (words.length > 1)
      throw usageError('Only a session can follow the case where -m or a place is given.')
    return addComment(context, name, words[0], options)
  }
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  const given = words.join(' ')
  const text = given === '-' ? textOf(await buffer(process.stdin), 'Standard input') : given
  if (text.trim() === '') throw usageError('The comment is blank. Write it after the case.')
  const { body } = await client.request('POST', `/cases/${id}/comments`, { body: { text } })
  terminal.print(json ? jsonText(body) : historyText([body], terminal))
  return EXIT.done
}

async function addComment(
  context: CommandContext,
  name: string,
  word: string | undefined,
  options: AddOptions,
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
  const about = aboutPlace(session, options)
  return withText(context, options, { present: '', about }, async (text) => {
    const body = { text, ...place }
    const answer = await client.request('POST', `${sessionPath(session)}/comments`, { body })
    const code = printComment(context, answer.body)
    if (!json) terminal.say(`Next: ${await nextOf(context, session)}`)
    return code
  })
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
function aboutPlace({ number, plan }: SessionJson, { line, step, file }: AddOptions): string[] {
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
  const session = word === undefined ? null : await resolveSession(client, id, word)
  const found = session
    ? [{ session, comments: await commentsOf(client, session) }]
    : await commentsOfCase(client, id)
  const all: CommentJson[] = found.flatMap(({ comments }) => comments)
  if (json) terminal.print(jsonText(all))
  else if (all.length === 0) {
    terminal.say(`no comments\nNext: casefile comment ${id.slice(0, 8)} --line 1`)
  } else {
    const parts = found.map(({ session, comments }) => {
      const title = terminal.color.bold(`Session ${session.number}`)
      return `${title}\n\n${comments.map((each) => commentText(each, terminal)).join('\n')}`
    })
    terminal.print(parts.join('\n'))
  }
  return EXIT.done
}

function printComment({ terminal, json }: ReadContext, comment: CommentJson): ExitCode {
  terminal.print(json ? jsonText(comment) : commentText(comment, terminal))
  return EXIT.done
}

const CUT = '# ----- Everything below this line is ignored. -----'

/** Passes the text of -m, or of the editor, to `use`. An empty text does nothing. */
async function withText(
  { terminal, signal }: CommandContext,
  { message }: TextOptions,
  { present, about }: { present: string; about: readonly string[] },
  use: (text: string) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (message !== undefined) {
    const text = message === '-' ? textOf(await buffer(process.stdin), 'Standard input') : message
    if (text.trim() === '') throw usageError('The text is blank. Write it after -m.')
    return use(text)
  }
  let code: ExitCode = EXIT.failed
  const template = [present, '', CUT, ...about.map((line) => `# ${line}`.trimEnd()), ''].join('\n')
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited(template, { name: 'comment.md', signal, onSaved }, async (edited) => {
    const text = edited.split(CUT)[0]!.trim()
    if (text === '' || text === present.trim()) {
      terminal.warn(text === '' ? 'the text is empty; nothing was changed' : 'nothing was changed')
    } else code = await use(text)
  })
  return code
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
