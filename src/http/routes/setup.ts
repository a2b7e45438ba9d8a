import { endpoint } from '../endpoint.ts'
import { etagOf, requireMatch } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { caseIdParam } from '../schemas/params.ts'
import {
  type CaseSetupJson,
  caseSetup,
  isDryRun,
  type SetupChangedJson,
  type SetupJson,
  setup,
  setupChange,
  setupChanged,
  setupProvider,
} from '../schemas/setup.ts'

/** Of what `PUT /setup` changes: agents come and go by themselves. */
export function setupEtag(settingsSha256: string | null): string {
  return etagOf(settingsSha256 ?? '')
}

export const setupEndpoints = [
  endpoint({
    route: 'GET /setup',
    id: 'getSetup',
    tag: 'System',
    summary: 'Get how the workspace is set up',
    description:
      'Says who plans, which agents are installed and logged in, and how tests are run. It asks each agent, which may take 5 s. The ETag is that of casefile.md: it says nothing about the agents.',
    responses: { 200: { description: 'The setup.', json: setup, headers: ['ETag'] } },
    isNeverCached: true,
    async handle({ c, service }) {
      const status = await service.setup.status(await service.setup.findAgents())
      return answerJson<SetupJson>(c, status, 200, { etag: setupEtag(status.settings_sha256) })
    },
  }),

  endpoint({
    route: 'PUT /setup',
    id: 'changeSetup',
    tag: 'System',
    summary: 'Change how the workspace is set up',
    description:
      'Writes the given settings into casefile.md, and nothing else in it. The first `tests` also make a checklist, unless one is given. `in_terminal` also installs hooks, as `casefile agent install` does. `casefile init` does the same, and git and signatures.',
    body: setupChange,
    query: { dry_run: isDryRun },
    responses: { 200: { description: 'What was written.', json: setupChanged, headers: ['ETag'] } },
    errors: [
      'unreadable_file',
      'already_exists',
      'changed_meanwhile',
      'unknown_provider',
      'untrusted_provider',
    ],
    operatorOnly: 'change setup',
    isConditional: true,
    async handle({ c, service, body, query }) {
      const changed = await service.setup.change(body, {
        isDry: query.dry_run === 'true',
        check: (hash) => requireMatch(c, setupEtag(hash), 'casefile.md'),
      })
      const status = await service.setup.status(await service.setup.findAgents())
      const headers = { etag: setupEtag(status.settings_sha256) }
      return answerJson<SetupChangedJson>(c, { ...changed, setup: status }, 200, headers)
    },
  }),

  endpoint({
    route: 'GET /cases/:id/setup',
    id: 'getCaseSetup',
    tag: 'Sessions',
    summary: 'Check what a session of a case would plan with',
    description:
      'A session without anything to plan with gets a plan without steps. `tests.runbook` is a runbook.md that runs just the tests.',
    params: { id: caseIdParam },
    query: { provider: setupProvider },
    responses: { 200: { description: 'What it would plan with.', json: caseSetup } },
    async handle({ c, service, params: { id }, query: { provider } }) {
      const contents = await service.store.read(id)
      const [found, intent] = await Promise.all([
        service.setup.ofCase(contents, provider),
        service.setup.proposedIntent(contents),
      ])
      return answerJson<CaseSetupJson>(c, { ...found, intent })
    },
  }),
]
