import { command as abandonCommand } from './commands/abandon.ts'
import { command as adoptCommand } from './commands/adopt.ts'
import { command as answerCommand } from './commands/answer.ts'
import { command as approveCommand } from './commands/approve.ts'
import { command as checkCommand } from './commands/check.ts'
import { command as commentCommand } from './commands/comment.ts'
import { command as completionCommand } from './commands/completion.ts'
import { command as deleteCommand } from './commands/delete.ts'
import { command as demoCommand } from './commands/demo.ts'
import { command as doctorCommand } from './commands/doctor.ts'
import { command as editCommand } from './commands/edit.ts'
import { command as exportCommand } from './commands/export.ts'
import { command as gateCommand } from './commands/gate.ts'
import { command as historyCommand } from './commands/history.ts'
import { command as hooksCommand } from './commands/hooks.ts'
import { command as importCommand } from './commands/import.ts'
import { command as inboxCommand } from './commands/inbox.ts'
import { command as initCommand } from './commands/init.ts'
import { command as itemCommand } from './commands/item.ts'
import { command as listCommand } from './commands/list.ts'
import { command as mcpCommand } from './commands/mcp.ts'
import { command as newCommand } from './commands/new.ts'
import { command as noteCommand } from './commands/note.ts'
import { command as notifyCommand } from './commands/notify.ts'
import { command as openCommand } from './commands/open.ts'
import { command as planCommand } from './commands/plan.ts'
import { command as proofCommand } from './commands/proof.ts'
import { command as queueCommand } from './commands/queue.ts'
import { command as reportCommand } from './commands/report.ts'
import { command as resolveCommand } from './commands/resolve.ts'
import { command as reviseCommand } from './commands/revise.ts'
import { command as runCommand } from './commands/run.ts'
import { command as sampleCommand } from './commands/sample.ts'
import { command as searchCommand } from './commands/search.ts'
import { command as serveCommand } from './commands/serve.ts'
import { command as showCommand } from './commands/show.ts'
import { command as startCommand } from './commands/start.ts'
import { command as stateCommand } from './commands/state.ts'
import { command as syncCommand } from './commands/sync.ts'
import { command as tailCommand } from './commands/tail.ts'
import { command as trailerCommand } from './commands/trailer.ts'
import { command as trustCommand } from './commands/trust.ts'
import { command as useCommand } from './commands/use.ts'
import { command as verifyCommand } from './commands/verify.ts'
import { command as webhookCommand } from './commands/webhook.ts'
import { command as worktreeCommand } from './commands/worktree.ts'
import type { Sections } from './program.ts'

/** All commands by their section of the help. Each has its own file, and loads large modules only when it runs. */
export const COMMANDS: Sections = {
  Cases: {
    new: newCommand,
    list: listCommand,
    inbox: inboxCommand,
    search: searchCommand,
    show: showCommand,
    history: historyCommand,
    edit: editCommand,
    resolve: resolveCommand,
    state: stateCommand,
    answer: answerCommand,
    note: noteCommand,
    open: openCommand,
    delete: deleteCommand,
    import: importCommand,
    export: exportCommand,
    report: reportCommand,
  },
  Sessions: {
    start: startCommand,
    plan: planCommand,
    approve: approveCommand,
    comment: commentCommand,
    revise: reviseCommand,
    abandon: abandonCommand,
    queue: queueCommand,
    tail: tailCommand,
    worktree: worktreeCommand,
  },
  'Your own agents': {
    hooks: hooksCommand,
    run: runCommand,
    use: useCommand,
    adopt: adoptCommand,
  },
  Proof: {
    proof: proofCommand,
    item: itemCommand,
    gate: gateCommand,
  },
  'The service': {
    serve: serveCommand,
    webhook: webhookCommand,
    notify: notifyCommand,
    mcp: mcpCommand,
    demo: demoCommand,
  },
  'The workspace': {
    init: initCommand,
    check: checkCommand,
    verify: verifyCommand,
    trailer: trailerCommand,
    sync: syncCommand,
    doctor: doctorCommand,
    trust: trustCommand,
    sample: sampleCommand,
    completion: completionCommand,
  },
}

export const COMMAND_NAMES: readonly string[] = Object.values(COMMANDS).flatMap(Object.keys)

/** The named command, or all commands. */
export function commandsFor(name: string): Sections {
  if (!COMMAND_NAMES.includes(name)) return COMMANDS
  const found = Object.entries(COMMANDS).find(([, commands]) => name in commands)!
  const [section, commands] = found
  return { [section]: { [name]: commands[name]! } }
}
