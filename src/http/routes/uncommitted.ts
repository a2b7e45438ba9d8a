import { sessionOf } from '../../model/case-folder.ts'
import { id as uuid } from '../../model/schemas.ts'
import { caseFolderState, folderState } from '../../sessions/uncommitted.ts'
import { endpoint, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { caseIdParam } from '../schemas/params.ts'
import { type UncommittedJson, uncommitted } from '../schemas/uncommitted.ts'

export const uncommittedEndpoints = [
  endpoint({
    route: 'GET /cases/:id/uncommitted',
    id: 'listUncommitted',
    tag: 'Sessions',
    summary: 'List uncommitted changes in the working folder',
    description:
      'Returns what git reports for the working folder of the case, and which session left each change. A run starts from these files, so they explain unexpected results; only a session with `isolation` does not have them. Without a git repository, `reason` says so.',
    params: { id: caseIdParam },
    query: {
      session: uuid
        .optional()
        .describe(
          'The id of a session. If a person runs its agent, the folder is the one that it works in.',
        ),
    },
    responses: ok(uncommitted, 'The uncommitted changes.'),
    async handle({ c, service, params: { id }, query }) {
      const folder = await service.store.read(id)
      const { folders } = await service.settings()
      const session = query.session === undefined ? null : sessionOf(folder, query.session)
      const conversation = session && service.conversations.ofSession(session.id)
      const found = conversation
        ? await folderState(service, conversation.folder)
        : await caseFolderState(service, folder.case.workdir, folders)
      if ('reason' in found) {
        const unknown = {
          branch: null,
          head: null,
          changes: [],
          is_cut: false,
          reason: found.reason,
        }
        return jsonWithETag<UncommittedJson>(c, unknown)
      }
      return jsonWithETag<UncommittedJson>(c, {
        branch: found.branch,
        head: found.head,
        changes: found.changes.map(({ file, kind, left_by }) => ({
          file,
          kind,
          left_by: left_by && {
            case_id: left_by.case_id,
            session_id: left_by.session.id,
            number: left_by.session.number,
            title: left_by.title,
            state: left_by.session.state,
          },
        })),
        is_cut: found.isCut,
        reason: null,
      })
    },
  }),
]
