import type { ErrorCode, FieldError } from '../model/app-error.ts'
import type { GateJson } from './schemas/case.ts'

interface ErrorSpec {
  status: number
  title: string
  /** Members of a real response, for the OpenAPI document. */
  example: { detail: string; errors?: FieldError[] } & Record<string, unknown>
}

const CASE = 'c12d54ae-1933-4631-a05f-aecf75428827'
const SESSION = '1a6976d2-9465-43b0-aeaa-34814a49b922'
const RUNNING = { case_id: CASE, session_id: SESSION }
const TITLE = 'Sign-in fails with a fresh token'
const PLAN_SHA256 = 'ca1d710f23161d516e97d70e012ad7fe549f1c615b1595055cfe46d588aee5cd'
const ETAG = '"e0d163d98f6cae85600b0e5c533e2fc4"'
const NOT_YAML = 'Flow sequence in block collection must be sufficiently indented and end with a ]'
const PROBLEM = {
  code: 'bad_frontmatter',
  file: 'case.md',
  line: 2,
  message: NOT_YAML,
}
const MISSING = [
  'at least one verified proof',
  'a verified proof of type test-log for "All tests pass"',
]
const GATE: GateJson = {
  open: false,
  verified: 0,
  items: [
    {
      description: 'All tests pass',
      type: 'test-log',
      required: true,
      checked: false,
      satisfied_by: null,
    },
  ],
  missing: MISSING,
  objections: [],
}

export const UNEXPECTED =
  'An unexpected error occurred in the service. The cause is in its log (standard error). Look there, and report it if it happens again.'

/** The HTTP status, the title and an example of every error code. */
export const ERRORS = {
  bad_request: {
    status: 400,
    title: 'Invalid request',
    example: {
      detail: 'title: expected a string; it is missing.',
      errors: [{ path: 'title', message: 'expected a string; it is missing' }],
    },
  },
  invalid_json: {
    status: 400,
    title: 'Invalid JSON',
    example: {
      detail:
        'The body is not JSON: Unexpected end of JSON input (line 1, column 10). Send a JSON object: {"name": "value"}.',
    },
  },
  invalid_filename: {
    status: 400,
    title: 'File name not allowed',
    example: {
      detail:
        '"CASE.md" is not a valid memory file name: expected "case.md" in lower case, as some file systems ignore case.',
      errors: [
        {
          path: 'filename',
          message:
            'expected "case.md" in lower case, as some file systems ignore case; got "CASE.md"',
        },
      ],
    },
  },
  unknown_state: {
    status: 400,
    title: 'Unknown state',
    example: {
      detail: 'There is no case state "DONE".',
      errors: [{ path: 'state', message: 'got "DONE", expected one of OPEN, PLANNING, RESOLVED' }],
    },
  },
  unknown_provider: {
    status: 400,
    title: 'Unknown provider',
    example: {
      detail: 'There is no provider "aider".',
      errors: [
        {
          path: 'provider',
          message: 'got "aider", expected runbook, claude, codex, or one that casefile.md defines',
        },
      ],
    },
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    example: {
      detail:
        'The Origin "http://other.example" is not this service. Open http://127.0.0.1:7878 itself, or call it from a program that sends no Origin.',
    },
  },
  own_session: {
    status: 403,
    title: 'Not allowed for a session',
    example: {
      detail: `Process 4711, which runs for session ${SESSION} of case ${CASE}, sent this request. Only the operator may do this: send it from a terminal or browser that no session has started.`,
      running: RUNNING,
    },
  },
  not_found: {
    status: 404,
    title: 'Not found',
    example: { detail: 'There is no case 00000000-0000-4000-8000-000000000000.' },
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    example: { detail: 'There is no PATCH /cases. This path supports GET, HEAD, POST.' },
  },
  already_exists: {
    status: 409,
    title: 'Already exists',
    example: { detail: 'The checklist already has "A colleague has looked at it" (review).' },
  },
  already_active: {
    status: 409,
    title: 'Already active',
    example: { detail: 'Work mode is already active for this session.' },
  },
  plan_changed: {
    status: 409,
    title: 'The plan has changed',
    example: {
      detail: `The plan has changed: its plan_sha256 is now ${PLAN_SHA256}, but you approved ${'0'.repeat(64)}. Read the plan again (GET), then approve it.`,
      plan_sha256: PLAN_SHA256,
    },
  },
  folder_busy: {
    status: 409,
    title: 'Folder in use',
    example: {
      detail: `Session 1 of “${TITLE}” works in this working folder. Wait until it ends, abandon it, or wait in line behind it (queue: true, casefile approve --queue, "Approve, and wait in line").`,
      running: { ...RUNNING, number: 1, title: TITLE },
    },
  },
  too_many_sessions: {
    status: 409,
    title: 'Too many sessions at work',
    example: {
      detail: `Session 1 of “${TITLE}” works already, and 1 at the same time is the limit (parallel in casefile.md). Wait until one ends, abandon it, or wait in line behind it (queue: true, casefile approve --queue, "Approve, and wait in line").`,
      running: { ...RUNNING, number: 1, title: TITLE },
    },
  },
  session_running: {
    status: 409,
    title: 'A session is running',
    example: {
      detail: `Session 1 of this case is executing; abandon it first (POST /cases/${CASE}/sessions/${SESSION}/abandon).`,
      running: RUNNING,
    },
  },
  unreadable_file: {
    status: 409,
    title: 'Unreadable file',
    example: {
      detail: `case.md has a problem (bad_frontmatter, line 2: ${NOT_YAML}), so it is not overwritten. Fix it in an editor, then try again.`,
      problem: PROBLEM,
    },
  },
  changed_meanwhile: {
    status: 409,
    title: 'Modified concurrently',
    example: {
      detail:
        'case.md was changed by someone else at the same time, so it was not overwritten. Read it again, then repeat the change.',
    },
  },
  git_busy: {
    status: 409,
    title: 'git is busy',
    example: {
      detail:
        'git is changing the files of this workspace (its index.lock is there), so nothing was written. Try again when it has finished.',
    },
  },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    example: {
      detail: `If-Match failed: its ETag is now ${ETAG}. Read it again, then decide.`,
      etag: ETAG,
    },
  },
  too_large: {
    status: 413,
    title: 'Too large',
    example: {
      detail: 'The body has 1048577 bytes; the limit is 1048576. Send a smaller one.',
    },
  },
  range_not_satisfiable: {
    status: 416,
    title: 'Range not satisfiable',
    example: {
      detail:
        '1-test.tap has 40 bytes, and none in the requested Range. Try again when it has grown.',
    },
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    example: {
      detail:
        'The body has no content type. Send UTF-8 JSON with the header "Content-Type: application/json".',
      accept: 'application/json',
    },
  },
  proof_gate: {
    status: 422,
    title: 'Proof requirements not met',
    example: {
      detail: `The proof gate is shut. This case still needs ${MISSING.join(', and ')}. Attach proof (POST /cases/${CASE}/proof) and verify it (PUT …/proof/:pid/verify).`,
      missing: MISSING,
      gate: GATE,
    },
  },
  session_ended: {
    status: 422,
    title: 'Session has ended',
    example: {
      detail:
        'Session 1 has ended (complete) and is sealed. To continue, create a new session on the case.',
    },
  },
  wrong_state: {
    status: 422,
    title: 'Invalid state',
    example: {
      detail: 'The plan can be edited while it awaits approval; the session is executing.',
    },
  },
  invalid_plan: {
    status: 422,
    title: 'Invalid plan',
    example: {
      detail:
        'The plan cannot be run: line 1: the step is empty. Edit the plan (PUT …/plan), then try again.',
      errors: [{ path: 'plan line 1', message: 'the step is empty' }],
    },
  },
  untrusted_provider: {
    status: 422,
    title: 'Provider not trusted',
    example: {
      detail:
        'casefile.md defines the provider "mine" (command ["sh","-c","./plan.sh"]), which comes with the workspace\'s files and has changed since it was trusted. Review and trust it with: casefile trust. Or use runbook.',
    },
  },
  untrusted_workdir: {
    status: 422,
    title: 'Working folder not trusted',
    example: {
      detail:
        'The case\'s workdir ".." is outside the workspace, so sessions cannot use it until it is trusted. Review and trust it with: casefile trust. Or use a folder inside the workspace.',
    },
  },
  untrusted_agent_files: {
    status: 422,
    title: 'Agent files not trusted',
    example: {
      detail:
        'The provider codex cannot be started here: its agent acts on files of the project that are not trusted: .codex/config.toml (not trusted). Review and trust them with: casefile trust. Or remove them, or choose another provider.',
    },
  },
  provider_unavailable: {
    status: 422,
    title: 'Provider unavailable',
    example: {
      detail:
        'The runbook takes no prompt: it makes plans from the files of a case. Start a session on a case instead.',
    },
  },
  isolation_impossible: {
    status: 422,
    title: 'Isolation not possible',
    example: {
      detail:
        'This session is to work in a separate worktree, but the repository has no commit yet. Make the first commit.',
    },
  },
  merge_conflict: {
    status: 409,
    title: 'Conflict with the working folder',
    example: {
      detail:
        'Nothing was changed: the branch casefile/sign-in-2 and main both changed src/token.js. Merge the branch in a terminal, or discard it and plan again from the present commit.',
      files: ['src/token.js'],
    },
  },
  record_on_branch: {
    status: 422,
    title: 'The branch changes the record',
    example: {
      detail:
        'Nothing was changed: the branch casefile/sign-in-2 changes files of the record, which only the service writes: memory/index.md. Remove these changes from the branch, or discard it.',
      files: ['memory/index.md'],
    },
  },
  signature_required: {
    status: 422,
    title: 'Signature required',
    example: {
      detail:
        'Approvals must be signed here (sign_approvals in casefile.md). Sign and approve in a terminal: casefile approve c12d54ae 1',
    },
  },
  bad_signature: {
    status: 422,
    title: 'Invalid signature',
    example: {
      detail:
        'The approval was not recorded. The key SHA256:kJ8b0hTYpU6Cw0hJ0pQmUuQ2ZrG2mY1sO4B0l5dY3nE is not in allowed_signers, or was not allowed at that time.',
    },
  },
  would_be_a_problem: {
    status: 422,
    title: 'Invalid file content',
    example: { detail: `case.md was not written: ${NOT_YAML} (line 2).`, problem: PROBLEM },
  },
  internal: {
    status: 500,
    title: 'Internal error',
    example: { detail: UNEXPECTED },
  },
  storage_failed: {
    status: 500,
    title: 'Storage failure',
    example: {
      detail:
        'The change to case.md was not saved: the storage rejected it (EIO). Check its permissions and the disk, then try again.',
    },
  },
  provider_failed: {
    status: 502,
    title: 'Provider failed',
    example: {
      detail: 'The provider mine returned no result: mine exited with 3: no account.',
    },
  },
  stopping: {
    status: 503,
    title: 'Service is stopping',
    example: { detail: 'The service is stopping. Try again when it runs again.' },
  },
  storage_full: {
    status: 507,
    title: 'Storage full',
    example: {
      detail:
        'The change to case.md was not saved: the storage is full (ENOSPC). Free space, then try again.',
    },
  },
} as const satisfies Record<ErrorCode, ErrorSpec>
