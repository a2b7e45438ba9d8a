import { inspect } from 'node:util'

/** Options for `createService`. Only `root` is required. */
export interface CreateServiceOptions {
  /** The workspace, an existing folder. Its `memory/` is created with the first write. */
  root: string
  /** The port on 127.0.0.1. Default: 0, which is any free port. */
  port?: number
  /** The folder with the cases. Default: `memory_root` in casefile.md, else `memory` in the workspace. */
  memoryRoot?: string
  /** The folder for this machine's state, outside of the workspace. Default: below $XDG_STATE_HOME. */
  stateDir?: string
  /** Trust what casefile.md asks for, like `casefile serve --trust`. Default: false. */
  trust?: boolean
  /** Protect files from agents with read-only mounts if they work. Default: true. */
  mount?: boolean
  /** Also serve the provider endpoints, like `casefile serve --dev`. Default: false. */
  dev?: boolean
  /** Receives each line that `casefile serve` would print to standard error. Default: print it there. */
  log?: (line: string) => void
}

/** A running service. */
export interface RunningService {
  /** Its address: `http://127.0.0.1:<port>`. */
  readonly url: string
  /**
   * Stops running sessions, finishes pending writes, and releases the workspace. After it resolves, the service
   * does not keep the process alive. Repeated calls return the same promise.
   */
  close(): Promise<void>
}

const TYPES = new Map<string, string>(
  Object.entries({
    root: 'string',
    port: 'number',
    memoryRoot: 'string',
    stateDir: 'string',

    trust: 'boolean',
    mount: 'boolean',
    dev: 'boolean',
    log: 'function',
  } satisfies Record<keyof CreateServiceOptions, string>),
)

/** A misspelt option could put state in the user's own folder, and `trust: 'false'` would mean trust. */
function mustBeKnown(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const type = TYPES.get(name)
    if (type === undefined) {
      const all = [...TYPES.keys()].join(', ')
      throw new TypeError(
        `createService has no option ${JSON.stringify(name)}: the options are ${all}`,
      )
    }
    if (value !== undefined && (typeof value !== type || value === '')) {
      throw new TypeError(`${name} is ${inspect(value)}: expected a ${type}, or omit it`)
    }
  }
}

/**
 * Serves a workspace inside this process, as `casefile serve` does in a separate one. Resolves once it answers
 * requests. Rejects with an `Error` whose `message` says what to do and whose `code` is one of the API’s:
 * `already_active` if another process serves the workspace or uses the port, `bad_request` if `root` is not a folder.
 * A wrong option throws a `TypeError` without a code.
 */
export async function createService(options: CreateServiceOptions): Promise<RunningService> {
  if (typeof options?.root !== 'string' || options.root === '') {
    throw new TypeError('createService needs { root }: the path of the folder to serve')
  }
  mustBeKnown(options)
  const { port = 0 } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`port is ${port}: expected a whole number from 0 to 65535`)
  }
  const { openServer } = await import('./serve.ts')
  const served = await openServer({ ...options, port })
  let closed: Promise<void> | undefined
  return { url: served.url, close: () => (closed ??= served.close()) }
}
