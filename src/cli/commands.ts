import { command as agentCommand } from './commands/agent.ts'
import { command as approveCommand } from './commands/approve.ts'
import { command as commentCommand } from './commands/comment.ts'
import { command as completionCommand } from './commands/completion.ts'
import { command as deleteCommand } from './commands/delete.ts'
import { command as demoCommand, sampleCommand } from './commands/demo.ts'
import { command as doctorCommand } from './commands/doctor.ts'
import { command as exportCommand } from './commands/export.ts'
import { command as importCommand } from './commands/import.ts'
import { command as inboxCommand } from './commands/inbox.ts'
import { command as initCommand } from './commands/init.ts'
import { command as listCommand } from './commands/list.ts'
import { command as newCommand } from './commands/new.ts'
import { command as openCommand } from './commands/open.ts'
import { command as proveCommand } from './commands/prove.ts'
import { command as resolveCommand } from './commands/resolve.ts'
import { command as reviseCommand } from './commands/revise.ts'
import { command as searchCommand } from './commands/search.ts'
import { command as serveCommand } from './commands/serve.ts'
import { command as sessionCommand } from './commands/session.ts'
import { command as setCommand } from './commands/set.ts'
import { command as showCommand } from './commands/show.ts'
import { command as startCommand } from './commands/start.ts'
import { command as syncCommand } from './commands/sync.ts'
import { trailerCommand, command as verifyCommitsCommand } from './commands/verify-commits.ts'
import { command as webhookCommand } from './commands/webhook.ts'
import type { Sections } from './program.ts'

/** All commands. Each has its own file, and loads large modules only when it runs. */
export const COMMANDS: Required<Sections> = {
  Commands: {
    init: initCommand,
    new: newCommand,
    list: listCommand,
    show: showCommand,
    start: startCommand,
    approve: approveCommand,
    revise: reviseCommand,
    comment: commentCommand,
    prove: proveCommand,
    resolve: resolveCommand,
    search: searchCommand,
    serve: serveCommand,
    doctor: doctorCommand,
    sync: syncCommand,
    session: sessionCommand,
    agent: agentCommand,
  },
  More: {
    inbox: inboxCommand,
    open: openCommand,
    set: setCommand,
    delete: deleteCommand,
    import: importCommand,
    export: exportCommand,
    webhook: webhookCommand,
    'verify-commits': verifyCommitsCommand,
    completion: completionCommand,
    demo: demoCommand,
  },
  Hidden: {
    trailer: trailerCommand,
    sample: sampleCommand,
  },
}

/** The named command, or all commands. */
export function commandsFor(name: string): Sections {
  for (const [section, commands] of Object.entries(COMMANDS)) {
    if (name in commands) return { [section]: { [name]: commands[name]! } }
  }
  return COMMANDS
}
