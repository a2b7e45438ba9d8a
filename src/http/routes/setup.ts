import { endpoint } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import { caseIdParam } from '../schemas/params.ts'
import {
  type CaseSetupJson,
  caseSetup,
  type SetupChangedJson,
  type SetupJson,
  setup,
  setupChange,
  setupChanged,
  setupProvider,
} from '../schemas/setup.ts'

export const setupEndpoints = [
  endpoint({
    route: 'GET /setup',
    id: 'getSetup',
    tag: 'System',
    summary: 'Get how the workspace is set up',
    description:
      'Says who plans, which agents are installed and logged in, how tests are run, and how git stores the cases. It asks each agent, which may take 5 s.',
    responses: { 200: { description: 'The setup.', json: setup } },
    handle: async ({ c, service }) => answerJson<SetupJson>(c, await service.setup.status()),
  }),

  endpoint({
    route: 'PUT /setup',
    id: 'changeSetup',
    tag: 'System',
    summary: 'Change how the workspace is set up',
    description:
      'Writes the given settings into casefile.md, and nothing else in it. `in_terminal` also installs hooks, as `casefile hooks install` does.',
    body: setupChange,
    responses: { 200: { description: 'What was written.', json: setupChanged } },
    errors: ['unreadable_file', 'changed_meanwhile', 'unknown_provider', 'untrusted_provider'],
    operatorOnly: 'change setup',
    async handle({ c, service, body }) {
      const wrote = await service.setup.change(body)
      return answerJson<SetupChangedJson>(c, { wrote, setup: await service.setup.status() })
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
    errors: ['bad_request'],
    async handle({ c, service, params: { id }, query: { provider } }) {
      const folder = await service.store.read(id)
      return answerJson<CaseSetupJson>(c, await service.setup.ofCase(folder, provider))
    },
  }),
]
