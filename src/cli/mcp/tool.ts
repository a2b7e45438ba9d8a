import { inspect } from 'node:util'
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { AppError } from '../../model/app-error.ts'
import type { Access } from './access.ts'

export interface ToolDeps {
  access: Access
  log: (line: string) => void
}

export interface Outcome {
  /** The value that the output schema describes. */
  structured: Record<string, unknown>
  /** The text for the reader. Default: `structured` as JSON. */
  text?: string
}

export interface Tool {
  name: string
  title: string
  description: string
  /** `appends`: calling it twice adds twice. `sets`: calling it twice changes nothing more. */
  does: 'reads' | 'appends' | 'sets'
  register(server: McpServer, deps: ToolDeps): void
}

/** The client, while it waits for the result. */
export interface Caller {
  /** Aborts when the client no longer waits. */
  signal: AbortSignal
  /** Reports that the call goes on, if the client has asked for such reports. */
  report(seconds: number, message: string): void
}

interface ToolDefinition<I extends z.ZodRawShape> extends Omit<Tool, 'register'> {
  input: I
  output: z.ZodRawShape
  run(access: Access, args: z.output<z.ZodObject<I>>, caller: Caller): Promise<Outcome>
}

/** An object with at least these fields; `meta` allows others in a way that every client understands. */
export function row<S extends z.ZodRawShape>(shape: S): z.ZodObject<S> {
  return z.object(shape).loose().meta({ additionalProperties: true })
}

/** A tool rejects unknown arguments; it does not drop them. */
export function tool<I extends z.ZodRawShape>(definition: ToolDefinition<I>): Tool {
  const { name, title, description, does, input, output, run } = definition
  const inputSchema = withoutNulls(z.strictObject(input))
  const outputSchema = row(output)
  const annotations = {
    title,
    readOnlyHint: does === 'reads',
    destructiveHint: false,

    idempotentHint: does !== 'appends',
    openWorldHint: false,
  }
  return {
    name,
    title,
    description,
    does,
    register(server, { access, log }) {
      const described = { title, description, inputSchema, outputSchema, annotations }
      server.registerTool(name, described, async (args, context): Promise<CallToolResult> => {
        try {
          const given = args as z.output<z.ZodObject<I>>
          const { structured, text } = await run(access, given, callerOf(context))
          const shown = text ?? JSON.stringify(structured)
          return { content: [{ type: 'text', text: shown }], structuredContent: structured }
        } catch (error) {
          return { content: [{ type: 'text', text: errorReason(error, log) }], isError: true }
        }
      })
    },
  }
}

function callerOf({ mcpReq: { _meta, signal, notify } }: ServerContext): Caller {
  const progressToken = _meta?.progressToken
  return {
    signal,
    report(progress, message) {
      if (progressToken === undefined) return
      const params = { progressToken, progress, message }
      // a client that is gone needs none
      notify({ method: 'notifications/progress', params }).catch(() => {})
    },
  }
}

/** Many models write null for an argument that they leave out. */
function withoutNulls<T extends z.ZodType>(schema: T): T {
  const standard = schema['~standard']
  const given = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
      : (value ?? {})
  const validate: typeof standard.validate = (value, options) =>
    standard.validate(given(value), options)
  return { '~standard': { ...standard, validate } } as T
}

/** The error as text for the agent, with its fields and code. */
export function errorReason(error: unknown, log: (line: string) => void): string {
  if (error instanceof AppError) {
    const lines = error.errors
      .filter(({ message }) => !error.message.includes(message))
      .map(({ path, message }) => `${path}: ${message}`)
    return [error.message, ...lines, `(${error.code})`].join('\n')
  }
  if (error instanceof Error && error.name === 'AbortError')
    return 'casefile agent mcp is shutting down.'
  log(inspect(error))
  return 'Something unexpected went wrong in casefile; see its standard error. Try again, and ask the operator if it happens again.'
}
