import { endpoint } from '../endpoint.ts'
import { etagOf, requireMatch } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { isDryRun, type SetupChangedJson, setupChange, setupChanged } from '../schemas/setup.ts'

/** Of casefile.md, which `PUT /setup` changes. */
export function setupEtag(settingsSha256: string | null): string {
  return etagOf(settingsSha256 ?? '')
}

export const setupEndpoints = [
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
      const { wrote, next, settings_sha256 } = await service.setup.change(body, {
        isDry: query.dry_run === 'true',
        check: (hash) => requireMatch(c, setupEtag(hash), 'casefile.md'),
      })
      const headers = { etag: setupEtag(settings_sha256) }
      return answerJson<SetupChangedJson>(c, { wrote, next }, 200, headers)
    },
  }),
]
