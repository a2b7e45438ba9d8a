import { text as readAll } from 'node:stream/consumers'
import { Command } from 'commander'
import { allOf } from '../../client/pages.ts'
import type {
  DeliveryJson,
  TestDeliveryJson,
  WebhookJson,
  WebhookWithSecretJson,
} from '../../http/schemas/webhook.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain, listOption, withSubcommands } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader, withService } from '../context.ts'
import { EXIT, type ExitCode, exiting } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { table } from '../output/table.ts'
import { resolveCase } from '../resolve/case.ts'

interface Options extends CommandOptions {
  /** Only the webhooks of this case. */
  case?: string
}

interface ChangeOptions extends Options {
  event?: string[]
  secret?: string
  url?: string
  pause?: boolean
  resume?: boolean
}

/** `casefile webhook …`: receivers of events. */
export function command(): Command {
  const webhook = new Command('webhook').description('Send events to other programs by webhooks.')
  return withSubcommands(webhook, [add(), list(), show(), change(), remove(), test(), deliveries()])
}

function subcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--case <case>', 'A webhook of this case. Default: of the workspace.')
}

const idArgument = ['<webhook>', 'Its id, or the start of it.'] as const
const UNKNOWN = [EXIT.unknown] as const

function add(): Command {
  const command = subcommand('add', 'Add a webhook, and print its secret.')
    .argument('<url>', 'Where events are sent.')
    .addOption(listOption('--event <name>', 'Only these events. Repeatable. Default: the usual.'))
    .option('--secret <secret>', 'Secret for signatures; - reads it. Default: a new one.')
    .option('--pause', 'Send nothing until you resume it.')
    .action((url: string, options: ChangeOptions) =>
      withService(options, async (context) => {
        const { event, secret, pause } = options
        const body = { url, events: event, secret: await readSecret(secret), active: !pause }
        const path = await listPath(context, options)
        return printWebhook(context, (await context.client.request('POST', path, { body })).body)
      }),
    )
  return explain(command, {
    examples: [
      ['casefile webhook add https://example.com/hook', 'Send the usual events.'],
      ['casefile webhook add http://127.0.0.1:9000/ --event attention_needed', 'Send one event.'],
    ],
    exits: UNKNOWN,
    more: 'The running service sends. docs/webhooks.md has the events and the signature.',
  })
}

function list(): Command {
  const command = subcommand('list', 'List webhooks.').action((options: Options) =>
    withReader(options, async (context) => {
      const { client, terminal, json } = context
      const webhooks = await allOf<WebhookJson>(client, await listPath(context, options))
      if (json) terminal.print(jsonText(webhooks))
      else if (webhooks.length === 0) terminal.say('no webhooks\nNext: casefile webhook add <url>')
      else terminal.print(webhookTable(webhooks, context))
      return EXIT.done
    }),
  )
  return explain(command, {
    examples: [
      ['casefile webhook list', 'List webhooks of the workspace.'],
      ['casefile webhook list --case "sign-in"', 'List webhooks of a case.'],
    ],
    exits: UNKNOWN,
  })
}

function show(): Command {
  const command = subcommand('show', 'Show a webhook and what it has delivered.')
    .argument(...idArgument)
    .action((idPrefix: string, options: Options) =>
      withReader(options, async (context) =>
        printWebhook(context, await findWebhook(context, idPrefix, options)),
      ),
    )
  return explain(command, {
    examples: [['casefile webhook show 7d1e', 'Is it failing?']],
    exits: UNKNOWN,
  })
}

function change(): Command {
  const command = subcommand('edit', 'Change a webhook, pause it, or resume it.')
    .argument(...idArgument)
    .option('--url <url>', 'New address.')
    .addOption(listOption('--event <name>', 'Only these events; * for all. Repeatable.'))
    .option('--secret <secret>', 'New secret; - reads it, "" generates one.')
    .option('--pause', 'Send nothing until you resume it.')
    .option('--resume', 'Send again, waiting events first.')
    .action((idPrefix: string, options: ChangeOptions) =>
      withService(options, async (context) => {
        const { url, event, secret, pause, resume } = options
        const active = pause ? false : resume ? true : undefined
        const body = { url, events: event, secret: await readSecret(secret), active }
        const path = await webhookPath(context, idPrefix, options)
        return printWebhook(context, (await context.client.request('PATCH', path, { body })).body)
      }),
    )
  return explain(command, {
    examples: [['casefile webhook edit 7d1e --pause', 'Stop sending for now.']],
    exits: UNKNOWN,
  })
}

function remove(): Command {
  const command = subcommand('remove', 'Remove a webhook.')
    .argument(...idArgument)
    .action((idPrefix: string, options: Options) =>
      withService(options, async (context) => {
        const { client, terminal, json } = context
        const { id, url } = await findWebhook(context, idPrefix, options)
        const { body } = await client.request('DELETE', `/webhooks/${id}`)
        terminal.print(json ? jsonText(body) : `removed  ${id.slice(0, 8)}  ${visibleText(url)}\n`)
        return EXIT.done
      }),
    )
  return explain(command, {
    examples: [['casefile webhook remove 7d1e', 'Drops its waiting events.']],
    exits: UNKNOWN,
  })
}

function test(): Command {
  const command = subcommand('test', 'Send a ping to a webhook.')
    .argument(...idArgument)
    .action((idPrefix: string, options: Options) =>
      withService(options, async (context): Promise<ExitCode> => {
        const { client, terminal, json } = context
        const path = await webhookPath(context, idPrefix, options)
        const tested: TestDeliveryJson = (await client.request('POST', `${path}/test`)).body
        const { delivered, status, error, ms } = tested
        const answer = status === null ? visibleText(error ?? 'no answer') : `status ${status}`
        if (json) terminal.print(jsonText(tested))
        else
          terminal.print(
            `${delivered ? 'delivered' : 'not delivered'}: ${answer}, ${Math.round(ms)} ms\n`,
          )
        return delivered ? EXIT.done : EXIT.failed
      }),
    )
  return explain(command, {
    examples: [['casefile webhook test 7d1e', 'Does the receiver accept it?']],
    more: 'Exits with 1 if the receiver does not accept it.',
    exits: UNKNOWN,
  })
}

function deliveries(): Command {
  const command = subcommand('deliveries', 'List what was sent to a webhook, newest first.')
    .argument(...idArgument)
    .action((idPrefix: string, options: Options) =>
      withReader(options, async (context) => {
        const { client, terminal, json } = context
        const path = `${await webhookPath(context, idPrefix, options)}/deliveries?limit=50`
        const sent: DeliveryJson[] = (await client.request('GET', path)).body
        if (json) terminal.print(jsonText(sent))
        else if (sent.length === 0) terminal.say('nothing was sent yet')
        else {
          const rows = sent.map(({ created_at, event_type, state, attempts }) => {
            const last = attempts.at(-1)
            const answer = last ? (last.status ?? last.error ?? '') : ''
            return [created_at, event_type, state, visibleText(String(answer))].map((text) => ({
              text,
            }))
          })
          terminal.print(table(rows, { width: terminal.width(), cuts: [[3, 12]] }))
        }
        return EXIT.done
      }),
    )
  return explain(command, {
    examples: [['casefile webhook deliveries 7d1e', 'See why it fails.']],
    exits: UNKNOWN,
  })
}

async function listPath({ client }: ReadContext, options: Options): Promise<string> {
  if (options.case === undefined) return '/webhooks'
  return `/cases/${await resolveCase(client, options.case)}/webhooks`
}

async function webhookPath(
  context: ReadContext,
  idPrefix: string,
  options: Options,
): Promise<string> {
  return `/webhooks/${(await findWebhook(context, idPrefix, options)).id}`
}

async function findWebhook(
  context: ReadContext,
  idPrefix: string,
  options: Options,
): Promise<WebhookJson> {
  const path = await listPath(context, options)
  const webhooks = await allOf<WebhookJson>(context.client, path)
  const matching = webhooks.filter(({ id }) => id.startsWith(idPrefix.toLowerCase()))
  if (matching.length === 1) return matching[0]!
  const ids = webhooks.map(({ id }) => id.slice(0, 8)).join(', ')
  const list = ids === '' ? 'There is none.' : `There are: ${ids}.`
  const problem = matching.length === 0 ? 'No webhook matches' : 'Several webhooks match'
  const message = `${problem} "${visibleText(idPrefix)}". ${list} Add --case for webhooks of a case. Next: casefile webhook list`
  throw exiting(EXIT.unknown, new AppError('not_found', message))
}

/** Reads the secret from standard input for `-`; null requests a new one. */
async function readSecret(option: string | undefined): Promise<string | null | undefined> {
  if (option === '') return null
  return option === '-' ? (await readAll(process.stdin)).trimEnd() : option
}

function printWebhook(
  { terminal, json }: ReadContext,
  webhook: WebhookJson | WebhookWithSecretJson,
): ExitCode {
  if (json) {
    terminal.print(jsonText(webhook))
    return EXIT.done
  }
  const { id, url, events, retrying, dead, failing_since } = webhook
  const secret = 'secret' in webhook ? webhook.secret : undefined
  const facts: [string, string | null | undefined][] = [
    ['id', id],
    ['url', url],
    ['events', events.join(', ')],
    ['status', statusText(webhook)],
    ['failing since', failing_since],
    ['retrying', retrying === 0 ? null : String(retrying)],
    ['given up', dead === 0 ? null : String(dead)],
    ['secret', secret],
  ]
  const rows = facts.flatMap(([name, value]) =>
    value ? [[{ text: name, paint: terminal.color.dim }, { text: visibleText(value) }]] : [],
  )
  terminal.print(table(rows))
  if (secret !== undefined) terminal.say('Keep the secret: it is not shown again.')
  return EXIT.done
}

function statusText({ active, disabled }: WebhookJson): string {
  if (disabled)
    return disabled.reason === 'gone' ? 'stopped: the receiver is gone' : 'stopped: it kept failing'
  return active ? 'active' : 'paused'
}

function webhookTable(
  webhooks: readonly WebhookJson[],
  { terminal }: Pick<ReadContext, 'terminal'>,
): string {
  const rows = webhooks.map((webhook) => [
    { text: webhook.id.slice(0, 8), paint: terminal.color.cyan },
    { text: statusText(webhook) },
    { text: visibleText(webhook.url) },
    { text: webhook.events.join(', '), paint: terminal.color.dim },
  ])
  return table(rows, {
    width: terminal.width(),
    cuts: [
      [3, 12],
      [2, 20],
    ],
  })
}
