import { actorOf } from '../actor.ts'
import { endpoint, FILE_ERRORS } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import { caseIdParam, sessionIdParam } from '../schemas/params.ts'
import {
  type AppliedJson,
  applied,
  type DiscardedJson,
  discarded,
  seenHead,
} from '../schemas/worktree.ts'

const ofSession = { id: caseIdParam, sid: sessionIdParam }

export const worktreeEndpoints = [
  endpoint({
    route: 'POST /cases/:id/sessions/:sid/apply',
    id: 'applyWorktree',
    tag: 'Sessions',
    summary: "Merge a session's branch into the working folder",
    description:
      'Merges the branch of an isolated session that has ended into the branch that is checked out in the working folder. If the two conflict, or if a file to change has uncommitted changes, nothing changes. The worktree stays.',
    params: ofSession,
    body: seenHead,
    isBodyOptional: true,
    responses: { 200: { description: 'What was merged.', json: applied } },
    errors: [
      ...FILE_ERRORS,
      'wrong_state',
      'folder_busy',
      'merge_conflict',
      'record_on_branch',
      'changed_meanwhile',
      'git_busy',
    ],
    operatorOnly: 'apply the work',
    async handle({ c, service, params: { id, sid }, body: { head } }) {
      const by = await actorOf(service, c)
      const { commit } = await service.worktrees.apply(id, sid, { by, head })
      return answerJson<AppliedJson>(c, { commit })
    },
  }),

  endpoint({
    route: 'POST /cases/:id/sessions/:sid/discard',
    id: 'discardWorktree',
    tag: 'Sessions',
    summary: 'Remove the worktree of a session',
    description:
      'Removes the folder, and the branch if another branch has all its commits. Changes without a commit are committed to the branch first, which then stays. What no commit can keep is named, and nothing is removed.',
    params: ofSession,
    body: seenHead,
    isBodyOptional: true,
    responses: { 200: { description: 'What was kept.', json: discarded } },
    errors: [...FILE_ERRORS, 'wrong_state', 'changed_meanwhile'],
    operatorOnly: 'discard the worktree',
    async handle({ c, service, params: { id, sid }, body: { head } }) {
      const by = await actorOf(service, c)
      const { branch_kept, commits_kept } = await service.worktrees.discard(id, sid, { by, head })
      return answerJson<DiscardedJson>(c, { branch_kept, commits_kept })
    },
  }),
]
