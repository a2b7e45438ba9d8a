import { Command } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import { itemsOf } from '../../client/pages.ts'
import type { CaseJson } from '../../http/schemas/case.ts'
import type { SessionHeadJson } from '../../http/schemas/session.ts'
import { counted, firstOf } from '../../model/amounts.ts'
import { visibleText } from '../../model/visible-text.ts'
import { quoteForShell } from '../../runners/shell-quote.ts'
import { caseArgument, explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { isAgreed } from '../question.ts'
import { resolveCase } from '../resolve/case.ts'
import { sessionsOf } from '../resolve/find-session.ts'

interface Options extends CommandOptions {
  yes?: boolean
}

export function command(): Command {
  const remove = new Command('delete')
    .description('Delete a case with all its files, after asking.')
    .addArgument(caseArgument())
    .option('--yes', 'Delete without asking.')
    .action((name: string, options: Options) =>
      withService(options, (context) => run(context, name, options)),
    )
  return explain(remove, {
    examples: [
      ['casefile delete "sign-in"', 'Read the question, answer y.'],
      ['casefile delete c12d --yes', 'Delete in a script.'],
    ],
    more: 'Git can restore only what was committed. Stop a running session first.',
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

async function run(context: CommandContext, name: string, { yes }: Options): Promise<ExitCode> {
  const { client, terminal, json } = context
  const id = await resolveCase(client, name)
  const { title } = (await client.request('GET', `/cases/${id}`)).body
  const what = `${id.slice(0, 8)}  ${visibleText(title)}`
  const sessions = await sessionsOf(client, id)
  const left = [...(await subCases(client, id)), ...sessions.flatMap(leftBehind)].map(visibleText)
  const stays = left.map((line) => `${line}\n`).join('')
  const question = `${what}\n${stays}Delete this case with its sessions, proof and notes? [y/N] `
  if (!(await isAgreed(context, { yes, question }))) {
    terminal.warn('not deleted')
    return EXIT.notApproved
  }
  const { body } = await client.request('DELETE', `/cases/${id}`)
  terminal.print(json ? jsonText(body) : `deleted  ${what}\n`)
  for (const line of left) terminal.say(line)
  return EXIT.done
}

async function subCases(client: ApiReader, id: string): Promise<string[]> {
  const titles: string[] = []
  for await (const { parent, title } of itemsOf<CaseJson>(client, '/cases'))
    if (parent === id) titles.push(title)
  if (titles.length === 0) return []
  return [`Not deleted: ${counted(titles.length, 'sub-case')} (${firstOf(titles, 5)}).`]
}

/** What a session has outside the record, which stays, and how to remove it. */
function leftBehind({ number, worktree }: SessionHeadJson): string[] {
  const { path = null, head = null, branch = '', ahead = 0 } = worktree ?? {}
  if (path === null && head === null) return []
  const what = path === null ? 'the branch' : 'the worktree and the branch'
  return [
    `Not deleted: ${what} ${branch} of session ${number} (${counted(ahead, 'commit')} to apply). To remove:`,
    ...(path === null ? [] : [`  git worktree remove ${quoteForShell(path)}`]),
    ...(head === null ? [] : [`  git branch -D ${quoteForShell(branch)}`]),
  ]
}
