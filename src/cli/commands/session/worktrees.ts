import { Command } from 'commander'
import type { SessionJson } from '../../../http/schemas/session.ts'
import type { AppliedJson, DiscardedJson, WorktreeJson } from '../../../http/schemas/worktree.ts'
import { counted } from '../../../model/amounts.ts'
import { AppError } from '../../../model/app-error.ts'
import { visibleText } from '../../../model/visible-text.ts'
import {
  applyObjection,
  applyText,
  discardText,
  mergeCommand,
  standingText,
} from '../../../worktrees/worktree-texts.ts'
import { caseArgument, explain, sessionArgument } from '../../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../../context.ts'
import { EXIT } from '../../output/exit-codes.ts'
import { jsonText } from '../../output/json.ts'
import { wrapped } from '../../output/wrapped.ts'
import { isAgreed } from '../../question.ts'
import { resolveCase } from '../../resolve/case.ts'
import { resolveSession, sessionPath } from '../../resolve/find-session.ts'

interface Options extends CommandOptions {
  yes?: boolean
}

/** `casefile session apply`. */
export function applyCommand(): Command {
  const apply = new Command('apply')
    .description("Merge a session's branch into the working folder, after asking.")
    .addArgument(caseArgument())
    .addArgument(sessionArgument())
    .option('--yes', 'Merge without asking.')
    .action((name: string, word: string | undefined, options: Options) =>
      withService(options, async (context) => {
        const session = await isolatedSession(context, name, word)
        const objection = applyObjection(session.worktree)
        const { conflicts, branch, onto } = session.worktree
        const discard = `casefile session discard ${session.case_id.slice(0, 8)} ${session.number}`
        const next = `\nNext: ${mergeCommand(branch) ?? 'git merge'}, or ${discard}`
        if (objection !== null)
          throw new AppError('wrong_state', `${objection}${conflicts.length === 0 ? '' : next}`)
        if (!(await isSure(context, session, options, applyText(session.worktree))))
          return EXIT.notApproved
        const { commit }: AppliedJson = await send(context, session, 'apply')
        if (context.json) context.terminal.print(jsonText({ commit }))
        else {
          context.terminal.print(
            `applied: ${visibleText(onto ?? '')} is at ${commit.slice(0, 12)}\n`,
          )
          context.terminal.say(`Next: ${discard}`)
        }
        return EXIT.done
      }),
    )
  return explain(apply, {
    examples: [['casefile session apply "sign-in"', 'The newest session of the case.']],
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

/** `casefile session discard`. */
export function discardCommand(): Command {
  const discard = new Command('discard')
    .description("Remove a session's worktree, after asking. Commits are never lost.")
    .addArgument(caseArgument())
    .addArgument(sessionArgument())
    .option('--yes', 'Remove without asking.')
    .action((name: string, word: string | undefined, options: Options) =>
      withService(options, async (context) => {
        const session = await isolatedSession(context, name, word)
        if (!(await isSure(context, session, options, discardText(session.worktree))))
          return EXIT.notApproved
        const result: DiscardedJson = await send(context, session, 'discard')
        const { branch_kept, commits_kept } = result
        const branch = visibleText(branch_kept ?? session.worktree.branch)
        const kept =
          branch_kept === null
            ? `and its branch ${branch}`
            : `the branch ${branch} stays, with ${counted(commits_kept, 'commit')} that no other branch has`
        if (context.json) context.terminal.print(jsonText(result))
        else
          context.terminal.print(`discarded the worktree of session ${session.number}; ${kept}\n`)
        return EXIT.done
      }),
    )
  return explain(discard, {
    examples: [['casefile session discard c12d 2', 'Read what is removed and what stays.']],
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

type Isolated = SessionJson & { worktree: WorktreeJson }

async function isolatedSession(
  { client }: CommandContext,
  name: string,
  word: string | undefined,
): Promise<Isolated> {
  const session = await resolveSession(client, await resolveCase(client, name), word)
  if (session.worktree) return { ...session, worktree: session.worktree }
  throw new AppError('wrong_state', `Session ${session.number} has no worktree.`)
}

async function isSure(
  context: CommandContext,
  { worktree }: Isolated,
  { yes }: Options,
  what: string,
): Promise<boolean> {
  const { terminal } = context
  const text = visibleText(`${standingText(worktree)} ${what}`)
  const question = `${wrapped(text, terminal.width())}\nGo on? [y/N] `
  if (await isAgreed(context, { yes, question })) return true
  terminal.warn('nothing was changed')
  return false
}

/** Only the commit that was shown. */
async function send({ client }: CommandContext, session: Isolated, what: 'apply' | 'discard') {
  const { head } = session.worktree
  const body = head === null ? {} : { head }
  return (await client.request('POST', `${sessionPath(session)}/${what}`, { body })).body
}
