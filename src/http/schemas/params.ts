import * as z from 'zod'
import { UUID } from '../../model/name-patterns.ts'

/** The noun for a path parameter, for the error about one that matches nothing. */
export const NOUNS = z.registry<{ noun: string }>()

function idOf(noun: string, example: string) {
  const schema = z
    .string()
    .regex(UUID)
    .meta({
      format: 'uuid',
      description: `The id of the ${noun}.`,
      examples: [example],
    })
  return schema.register(NOUNS, { noun })
}

/** The ids of the examples are in the sample workspace, so that a reader can send the requests to a copy of it. */
export const caseIdParam = idOf('case', 'c12d54ae-1933-4631-a05f-aecf75428827')
export const sessionIdParam = idOf('session', '1a6976d2-9465-43b0-aeaa-34814a49b922')
export const proofIdParam = idOf('proof', '1f769663-1cea-4781-a6c3-dba4891688a2')
export const webhookIdParam = idOf('webhook', 'fd0fe62c-d20e-4923-8737-ebc8ddf03e8f')
export const deliveryIdParam = named('The id of the delivery.', 'evt_61_857bf4a7f89d8b72')
export const conversationIdParam = idOf('conversation', '0d0ad1cc-3a4b-4a04-a2c8-5b4a3f1c8b16')
export const hookAgentParam = z
  .string()
  .regex(/^[\w-]{1,40}$/)
  .meta({
    description: 'The agent whose settings have the hook, such as `claude`.',
    examples: ['claude'],
  })
export const hookEventParam = named(
  'The name of the event, for an agent that does not say it itself.',
  'preToolUse',
)
export const providerParam = named('The name of the provider.', 'claude')
export const filenameParam = named(
  'The name of the file, such as `notes.md`, percent-encoded.',
  'runbook.md',
)
export const artifactParam = named('The name of the artifact.', '1-test.tap')

/** A resolved case of the sample, with its session and proof. */
export const RESOLVED = {
  id: '6802b34d-37d5-420a-afaa-e69e7f45a6ed',
  sid: '4726bdf3-a179-4b98-a285-adc6b9437499',
  pid: '1f769663-1cea-4781-a6c3-dba4891688a2',
}

function named(description: string, example: string) {
  return z.string().meta({ description, examples: [example] })
}

/** The plan that waits for approval in the sample, shortened; the hash is that of the full text. */
export const PLAN = {
  plan_sha256: 'ca1d710f23161d516e97d70e012ad7fe549f1c615b1595055cfe46d588aee5cd',
  text: '… Compare seconds with seconds, then run all tests.\n\n```sh run id=test timeout=60s proof=tap\nnpm test --silent\n```',
}
