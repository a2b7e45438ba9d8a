import { Command } from 'commander'
import type { TestDeliveryJson, WebhookJson } from '../../http/schemas/webhook.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { requirePersistentService } from '../persistent-service.ts'

/** `casefile notify …`: the receivers in `notify` of casefile.md. */
export function command(): Command {
  const notify = new Command('notify').description('Check the notifications in casefile.md.')
  return notify.addCommand(test())
}

function test(): Command {
  const command = new Command('test')
    .description('Send a test notification to each entry of notify in casefile.md.')
    .action((options: CommandOptions) => withService(options, run))
  return explain(command, {
    examples: [['casefile notify test', 'Do you see it?']],
    more: 'The running service sends. Entries other than desktop need casefile trust. Exits with 1 if one is not accepted.',
    exits: [EXIT.unknown],
  })
}

async function run(context: CommandContext): Promise<ExitCode> {
  const { client, terminal, json } = context
  requirePersistentService(context, 'run')
  const webhooks: WebhookJson[] = (await client.request('GET', '/webhooks')).body
  const targets = webhooks.filter(({ notify }) => notify !== undefined)
  const results = []
  for (const { id, notify, url } of targets) {
    const sent: TestDeliveryJson = (await client.request('POST', `/webhooks/${id}/test`)).body
    results.push({ notify, url, ...sent })
    if (json) continue
    const answer = sent.delivered ? 'sent' : `not sent: ${visibleText(sent.error ?? 'no answer')}`
    terminal.print(`${[notify, visibleText(url)].join(' ').trim()}  ${answer}\n`)
  }
  if (json) terminal.print(jsonText(results))
  else if (targets.length === 0) {
    terminal.say(
      'casefile.md has no notify that is trusted\nNext: add one (docs/settings.md), then casefile trust',
    )
  }
  const isFine = results.length > 0 && results.every(({ delivered }) => delivered)
  return isFine ? EXIT.done : EXIT.failed
}
