import type { ErrorCode, FieldError } from '../model/app-error.ts'
import type { GateJson } from './schemas/case.ts'

interface ErrorSpec {
  status: number
  title: string
  /** Members of a real response, for the OpenAPI document: of a code with additional members. */
  example?: { detail: string; errors?: FieldError[] } & Record<string, unknown>
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

/** The HTTP status and the title of every error code. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorSpec>> = {
  bad_request: {
    status: 400,
    title: 'Invalid request',
    example: {
      detail: 'title: expected a string; it is missing.',
      errors: [{ path: 'title', message: 'expected a string; it is missing' }],
    },
  },
  invalid_json: { status: 400, title: 'Invalid JSON' },
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
  forbidden: { status: 403, title: 'Forbidden' },
  own_session: {
    status: 403,
    title: 'Not allowed for a session',
    example: {
      detail: `Process 4711, which runs for session ${SESSION} of case ${CASE}, sent this request. Only the operator may do this: send it from a terminal or browser that no session has started.`,
      running: RUNNING,
    },
  },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  already_exists: { status: 409, title: 'Already exists' },
  already_active: { status: 409, title: 'Already active' },
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
      detail: `Session 1 of this case is executing; abandon it first.`,
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
  changed_meanwhile: { status: 409, title: 'Modified concurrently' },
  git_busy: { status: 409, title: 'git is busy' },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    example: {
      detail: `If-Match failed: its ETag is now ${ETAG}. Read it again, then decide.`,
      etag: ETAG,
    },
  },
  too_large: { status: 413, title: 'Too large' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable' },
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
  session_ended: { status: 422, title: 'Session has ended' },
  wrong_state: { status: 422, title: 'Invalid state' },
  invalid_plan: {
    status: 422,
    title: 'Invalid plan',
    example: {
      detail: 'The plan cannot be run: line 1: the step is empty. Edit the plan, then try again.',
      errors: [{ path: 'plan line 1', message: 'the step is empty' }],
    },
  },
  untrusted_provider: { status: 422, title: 'Provider not trusted' },
  untrusted_workdir: { status: 422, title: 'Working folder not trusted' },
  untrusted_agent_files: { status: 422, title: 'Agent files not trusted' },
  provider_unavailable: { status: 422, title: 'Provider unavailable' },
  isolation_impossible: { status: 422, title: 'Isolation not possible' },
  merge_conflict: {
    status: 409,
    title: 'Conflict with the working folder',
    example: {
      detail:
        'Nothing was changed: the branch casefile/sign-in-2 and main both changed src/token.js. Merge it in a terminal (git merge casefile/sign-in-2), or discard it and plan again from the present commit.',
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
  signature_required: { status: 422, title: 'Signature required' },
  bad_signature: { status: 422, title: 'Invalid signature' },
  would_be_a_problem: {
    status: 422,
    title: 'Invalid file content',
    example: { detail: `case.md was not written: ${NOT_YAML} (line 2).`, problem: PROBLEM },
  },
  internal: { status: 500, title: 'Internal error' },
  storage_failed: { status: 500, title: 'Storage failure' },
  provider_failed: { status: 502, title: 'Provider failed' },
  stopping: { status: 503, title: 'Service is stopping' },
  storage_full: { status: 507, title: 'Storage full' },
}
