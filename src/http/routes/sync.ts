import { endpoint } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import { type SyncResultJson, syncRequest, syncResult } from '../schemas/sync.ts'

export const syncEndpoints = [
  endpoint({
    route: 'POST /sync',
    id: 'syncRecord',
    tag: 'System',
    summary: 'Share the record with the remote',
    description:
      'Commits the record and nothing else, merges it with what others pushed, and pushes it. Returns when that is done, also if it had to stop.',
    body: syncRequest,
    isBodyOptional: true,
    responses: { 200: { description: 'What it did, or why it stopped.', json: syncResult } },
    operatorOnly: 'sync the record',
    handle: async ({ c, service, body }) =>
      answerJson<SyncResultJson>(c, await service.sync.sync({ dryRun: body.dry_run ?? false })),
  }),
]
