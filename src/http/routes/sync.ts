import { endpoint } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import {
  type SyncResultJson,
  type SyncStatusJson,
  syncRequest,
  syncResult,
  syncStatus,
} from '../schemas/sync.ts'

export const syncEndpoints = [
  endpoint({
    route: 'GET /sync',
    id: 'getSync',
    tag: 'System',
    summary: 'Get how the record compares with the remote',
    description: 'Compares the branch with what was fetched last. Does not ask the remote.',
    responses: { 200: { description: 'The comparison.', json: syncStatus } },
    handle: async ({ c, service }) => answerJson<SyncStatusJson>(c, await service.sync.status()),
  }),

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
