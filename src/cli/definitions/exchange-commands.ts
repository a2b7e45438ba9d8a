import type { Command } from 'commander'
import type { ImportOptions } from '../commands/import.ts'
import type { ConsoleOptions } from '../console.ts'
import { consoleCommand } from './arguments.ts'
import { atConsole, atReading } from './at-console.ts'
import { explained } from './explained.ts'

/** Cases from elsewhere, and to elsewhere. */
export function exchangeCommands(): Command[] {
  return [importCommand(), exportCommand()]
}

function importCommand(): Command {
  const command = consoleCommand('import', 'make cases of GitHub issues')
    .argument('<file>', 'what gh issue list --json prints; - reads standard input')
    .option('--dry-run', 'only say what would be made')
    .option('--repo <owner/name>', 'where issues are from that do not say their url')
    .option('--type <type>', 'the type of all cases (default: feature or bug, as labels say)')
    .action(async (file: string, options: ImportOptions) => {
      const commands = await import('../commands/import.ts')
      const planned = await commands.plannedCases(file, options)
      if (options.dryRun) {
        await atReading(options, (console) => commands.previewImport(console, planned))
      } else await atConsole(options, (console) => commands.importCases(console, planned))
    })
  return explained(command, {
    examples: [
      ['casefile import issues.json --dry-run', 'look first'],
      ['gh issue list --json number,title,body,url | casefile import -', 'straight from gh'],
    ],
    more: 'An issue whose case is there already is left alone, so the same import again makes only what is new. docs/exchange.md says which fields to ask gh for.',
  })
}

function exportCommand(): Command {
  const command = consoleCommand(
    'export',
    'print every case with its sessions, proof and memory, as a line of JSON each',
  ).action(async (options: ConsoleOptions) => {
    const { exportCases } = await import('../commands/export.ts')
    await atReading(options, exportCases)
  })
  return explained(command, {
    examples: [
      ['casefile export > cases.jsonl', 'the oldest case first'],
      ["casefile export | jq -r 'select(.gate.open) | .title'", 'for a program'],
    ],
    more: 'With --json a refusal is JSON too. docs/exchange.md says what is in a line.',
  })
}
