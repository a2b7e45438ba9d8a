import { inspect } from 'node:util'

/** What a workspace is served with. Only `root` is needed. */
export interface CreateServiceOptions {
  /** The workspace: a folder that is there. Its `memory/` is made with the first write. */
  root: string
  /** The port on 127.0.0.1. Default: 0, any that is free. */
  port?: number
  /** Where the files are. Default: `memory_root` in casefile.md, else `memory` in the workspace. */
  memoryRoot?: string
  /** This machine's own state, outside of the workspace. Default: below $XDG_STATE_HOME. */
  stateDir?: string
  /** Trust what casefile.md asks for, as `casefile serve --trust` does. Default: false. */
  trust?: boolean
  /** Keep agents from writing by read-only mounts, where these work. Default: true. */
  mount?: boolean
  /** Answer the provider endpoints too, as `casefile serve --dev` does. Default: false. */
  dev?: boolean
  /** Takes each line that `casefile serve` would print on standard error. Default: it is printed there. */
  log?: (line: string) => void
}

/** A service that answers. */
export interface RunningService {
  /** Where: `http://127.0.0.1:<port>`. */
  readonly url: string
  /**
   * Stops what runs, finishes what is being written, and gives the workspace back. Once it has resolved, nothing of
   * the service keeps the process alive. The same promise however often it is called.
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

/** A name that is misspelt would leave the state where the user's own is, and `'false'` would be trust. */
function mustBeKnown(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    const type = TYPES.get(name)
    if (type === undefined) {
      const all = [...TYPES.keys()].join(', ')
      throw new TypeError(`createService has no option ${JSON.stringify(name)}: it takes ${all}`)
    }
    if (value !== undefined && (typeof value !== type || value === '')) {
      throw new TypeError(`${name} is ${inspect(value)}: expected a ${type}, or leave it out`)
    }
  }
}

/**
 * Serves a workspace from inside this process, as `casefile serve` does from one of its own. Resolves when it
 * answers. Rejects with an `Error` whose `message` says what to do and whose `code` is one of the API's: `already_active`
 * where another process serves the workspace or has the port, `bad_request` where `root` is no folder. A wrong option is a `TypeError` without one.
 */
export async function createService(options: CreateServiceOptions): Promise<RunningService> {
  if (typeof options?.root !== 'string' || options.root === '') {
    throw new TypeError('createService takes { root }: the path of the folder that is to be served')
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
