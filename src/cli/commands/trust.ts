import { Command } from 'commander'
import type { TrustOptions } from '../../trust/command.ts'
import { explain, setupOptions } from '../command.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'
import { confirm } from '../question.ts'

interface Options extends TrustOptions {
  json?: boolean
}

export function command(): Command {
  const trust = new Command('trust')
    .description('Show what needs your trust, and trust it.')
    .option('--yes', 'Trust without asking.')
    .action(async (options: Options) => {
      process.exitCode = await run(options)
    })
  return explain(trust, {
    examples: [['casefile trust', 'Read the list, answer y.']],
    more: 'Settings, working folders and agent files of a project take effect only once they are trusted.',
    shared: setupOptions(),
  })
}

/** With `json`, text for people goes to standard error. */
async function run(options: Options): Promise<number> {
  const { print, warn, canAsk } = ownTerminal()
  const { signal } = new AbortController()
  const { trust } = await import('../../trust/command.ts')
  const code = await trust(options, {
    print: options.json ? (text) => void process.stderr.write(text) : print,
    warn,
    ask: canAsk && !options.json ? (question) => confirm(question, signal) : null,
  })
  if (options.json) print(jsonText({ trusted: code === 0 }))
  return code
}
