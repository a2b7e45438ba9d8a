import { type Command, Option } from 'commander'
import { KNOWN_CASE_TYPES, KNOWN_OUTCOMES } from '../../model/known-words.ts'
import type { DeleteOptions } from '../commands/delete.ts'
import type { ListOptions } from '../commands/list.ts'
import type { NewOptions } from '../commands/new.ts'
import type { OpenOptions } from '../commands/open.ts'
import type { SearchOptions } from '../commands/search.ts'
import type { StateOptions } from '../commands/state.ts'
import type { ConsoleOptions } from '../console.ts'
import { EXIT } from '../output/exit-codes.ts'
import { caseArgument, consoleCommand, listed, sessionArgument } from './arguments.ts'
import { atConsole, atReading } from './at-console.ts'
import { explained } from './explained.ts'

const OUTCOME_HELP = `what was found: ${KNOWN_OUTCOMES.join(', ')}, or another PascalCase word`

/** Making cases, finding them, and closing them. */
export function caseCommands(): Command[] {
  const finding = [listCommand(), searchCommand(), showCommand(), historyCommand()]
  const changing = [...closing(), answerCommand(), noteCommand()]
  return [newCommand(), ...finding, ...changing, openCommand(), deleteCommand()]
}

function newCommand(): Command {
  const command = consoleCommand('new', 'make a case')
    .argument('<title>', 'what is to be done, on one line')
    .option('-d, --description <text>', 'more about it, as markdown; - reads standard input')
    .option(
      '--type <type>',
      `what kind of case it is: ${KNOWN_CASE_TYPES.join(', ')}, or a word of your own (default: bug)`,
    )
    .addOption(new Option('--tag <tag>', 'a tag; may be given several times').argParser(listed))
    .option('--parent <case>', 'the case that this one belongs to')
    .option('--workdir <dir>', 'where its sessions work, if not in the workspace')
    .option('--provider <name>', 'who plans its sessions, if not the standard one')
    .action(async (title: string, options: NewOptions) => {
      const { newCase } = await import('../commands/new.ts')
      await atConsole(options, (console) => newCase(console, title, options))
    })
  return explained(command, {
    examples: [
      ['casefile new "Sign-in fails" --tag auth', 'a bug with a tag'],
      ['casefile new "Export as CSV" --type feature -d - < wish.md', 'with a description'],
    ],
    exits: [EXIT.unknown],
  })
}

function listCommand(): Command {
  const several = (flags: string, what: string) => new Option(flags, what).argParser(listed)
  const command = consoleCommand('list', 'list the cases, those that need you first')
    .argument('[search]', 'a part of the title or description')
    .addOption(several('--state <state>', 'only cases in this state'))
    .addOption(several('--type <type>', 'only cases of this type, such as bug'))
    .addOption(several('--tag <tag>', 'only cases with this tag'))
    .addOption(
      several('--outcome <outcome>', 'only cases with this outcome, such as Unreproducible'),
    )
    .addOption(
      several(
        '--needs <kind>',
        'only cases that need this: plan, problem, blocked, failed, proof, gate_open, running, or any',
      ),
    )
    .option('--all', 'closed cases too')
    .action(async (search: string | undefined, options: ListOptions) => {
      const { list } = await import('../commands/list.ts')
      await atReading(options, (console) => list(console, options, search))
    })
  return explained(command, {
    examples: [
      ['casefile list', 'what is open'],
      ['casefile list --needs plan,gate_open', 'what waits for a decision'],
      ['casefile list --state RESOLVED --json', 'for a program'],
    ],
    more: 'An option may be given several times, or with commas: a case that fits one of the values is shown.',
  })
}

function searchCommand(): Command {
  const command = consoleCommand('search', 'find words in cases, sessions, notes and proof')
    .argument(
      '<words...>',
      'words, phrases in quotation marks, and filters such as state:RESOLVED, type:bug, tag:auth',
    )
    .option('--limit <n>', 'how many cases at most, 1 to 100', '20')
    .action(async (words: string[], options: SearchOptions) => {
      const { search } = await import('../commands/search.ts')
      await atConsole(options, (console) => search(console, words, options))
    })
  return explained(command, {
    examples: [
      ['casefile search connection refused', 'cases with both words, or what is close to them'],
      [`casefile search '"connection refused"'`, 'cases with both words, one after the other'],
      ['casefile search "ECONNRESET state:RESOLVED"', 'how it was solved before'],
      ['casefile search tag:auth token --json', 'for a program'],
    ],
    more: 'The lines that match are shown with their files, relative to the workspace.',
  })
}

function showCommand(): Command {
  const command = consoleCommand('show', 'show a case, or one of its sessions')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('the case itself is shown'))
    .action(async (name: string, word: string | undefined, options: ConsoleOptions) => {
      const { show } = await import('../commands/show.ts')
      await atReading(options, (console) => show(console, name, word))
    })
  return explained(command, {
    examples: [
      ['casefile show "sign-in"', 'a case by a part of its title'],
      ['casefile show c12d latest', 'its newest session'],
    ],
    exits: [EXIT.unknown],
  })
}

function historyCommand(): Command {
  const command = consoleCommand('history', 'show what happened to a case: who, what and why')
    .addArgument(caseArgument())
    .action(async (name: string, options: ConsoleOptions) => {
      const { history } = await import('../commands/history.ts')
      await atReading(options, (console) => history(console, name))
    })
  return explained(command, {
    examples: [['casefile history "sign-in"', 'from the first act to the newest']],
    exits: [EXIT.unknown],
  })
}

function answerCommand(): Command {
  const command = consoleCommand('answer', 'answer the question of a case that needs your input')
    .addArgument(caseArgument())
    .argument('[text...]', 'the answer; - reads standard input; without it $EDITOR opens')
    .action(async (name: string, text: string[], options: ConsoleOptions) => {
      const { answer } = await import('../commands/answer.ts')
      await atConsole(options, (console) => answer(console, name, text))
    })
  return explained(command, {
    examples: [
      ['casefile answer "sign-in" "30 days."', 'the case goes back to the state before'],
      ['casefile answer c12d - < answer.md', 'an answer from a file'],
    ],
    exits: [EXIT.unknown],
    more: 'Question and answer stay in the history of the case, and the next session gets them.',
  })
}

function closing(): Command[] {
  const resolve = consoleCommand('resolve', 'close a case whose proof is verified')
    .addArgument(caseArgument())
    .option('--outcome <outcome>', OUTCOME_HELP)
    .option('--reason <text>', 'why')
    .action(async (name: string, options: StateOptions) => {
      const { setState } = await import('../commands/state.ts')
      await atConsole(options, (console) => setState(console, name, 'RESOLVED', options))
    })
  const state = consoleCommand('state', 'put a case into a state')
    .addArgument(caseArgument())
    .argument('<state>', 'such as BLOCKED or WONT_FIX, in any case of letters')
    .option('--outcome <outcome>', OUTCOME_HELP)
    .option('--reason <text>', 'why')
    .action(async (name: string, wanted: string, options: StateOptions) => {
      const { setState } = await import('../commands/state.ts')
      await atConsole(options, (console) => setState(console, name, wanted, options))
    })
  return [
    explained(resolve, {
      examples: [['casefile resolve "sign-in" --outcome ConfirmedCodeBug', 'close it']],
      exits: [EXIT.unknown, EXIT.gateShut],
    }),
    explained(state, {
      examples: [['casefile state c12d blocked --reason "Waiting for operations"', 'put it aside']],
      exits: [EXIT.unknown, EXIT.gateShut],
    }),
  ]
}

function noteCommand(): Command {
  const command = consoleCommand('note', 'add to the notes of a case')
    .addArgument(caseArgument())
    .argument('<text...>', 'the note; - reads standard input')
    .action(async (name: string, text: string[], options: ConsoleOptions) => {
      const { note } = await import('../commands/note.ts')
      await atConsole(options, (console) => note(console, name, text))
    })
  return explained(command, {
    examples: [
      ['casefile note "sign-in" "It began with release 2.3."', 'a paragraph below today’s heading'],
      ['git log -3 | casefile note c12d -', 'what a command prints'],
    ],
    exits: [EXIT.unknown],
  })
}

function openCommand(): Command {
  const command = consoleCommand('open', 'open the page of a case in the browser')
    .addArgument(caseArgument())
    .option('--print', 'only print its address')
    .option('--edit', 'open case.md in $VISUAL or $EDITOR instead')
    .option('--folder', 'print the path of its folder instead')
    .action(async (name: string, options: OpenOptions) => {
      const { open } = await import('../commands/open.ts')
      await atConsole(options, (console) => open(console, name, options))
    })
  return explained(command, {
    examples: [
      ['casefile open "sign-in"', 'needs a running service'],
      ['cd "$(casefile open c12d --folder)"', 'go to its files'],
    ],
    exits: [EXIT.unknown],
  })
}

function deleteCommand(): Command {
  const command = consoleCommand('delete', 'delete a case with all its files, after asking')
    .addArgument(caseArgument())
    .option('--yes', 'delete it without asking')
    .action(async (name: string, options: DeleteOptions) => {
      const { deleteCase } = await import('../commands/delete.ts')
      await atConsole(options, (console) => deleteCase(console, name, options))
    })
  return explained(command, {
    examples: [
      ['casefile delete "sign-in"', 'look, and answer y'],
      ['casefile delete c12d --yes', 'in a script'],
    ],
    more: 'Its sessions, proof and notes go with it, and only git can bring back what was committed. A case with a running session is refused: abandon that session first.',
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}
