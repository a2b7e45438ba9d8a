import { sessionOf } from '../../model/case-folder.ts'
import { expectedWallsText } from '../../model/walls.ts'
import { endpoint, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { caseIdParam, sessionIdParam } from '../schemas/params.ts'
import { type WallsJson, walls } from '../schemas/walls.ts'

export const wallsEndpoints = [
  endpoint({
    route: 'GET /cases/:id/sessions/:sid/walls',
    id: 'getWalls',
    tag: 'Sessions',
    summary: 'Get what will hold the programs of a session',
    description:
      'Returns what the programs of its plan could write to, see and reach if it were approved now. What really held is in the line `guarded` of the audit trail.',
    params: { id: caseIdParam, sid: sessionIdParam },
    responses: ok(walls, 'What will hold.'),
    errors: ['bad_request', 'untrusted_workdir', 'untrusted_provider', 'unknown_provider'],
    async handle({ c, service, params: { id, sid } }) {
      const folder = await service.store.read(id)
      const found = await service.sessions.walls(folder, sessionOf(folder, sid))
      const { guard, reason, places, hosts, objection } = found
      return jsonWithETag<WallsJson>(c, {
        guard,
        reason,
        writes: places && [...places.writes],
        hides: places && [...places.hides],
        hosts: hosts && [...hosts],
        text: expectedWallsText(found),
        objection,
      })
    },
  }),
]
