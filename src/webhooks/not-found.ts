import { AppError } from '../model/app-error.ts'

export function webhookNotFound(id: string): AppError {
  return new AppError('not_found', `There is no webhook ${id}. GET /webhooks lists all webhooks.`)
}

export function deliveryNotFound(id: string, deliveryId: string): AppError {
  const message = `Webhook ${id} has no delivery ${deliveryId.slice(0, 80)}; it may have been removed since. GET /webhooks/${id}/deliveries lists the stored ones.`
  return new AppError('not_found', message)
}
