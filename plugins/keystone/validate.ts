import { ConnectorError, hasCode, type Output } from 'keyway/sdk'
import { type Ctx, readList } from './service.ts'

type Service = { id: string; name?: string; type: string }

/**
 * Lists the domains, which requires an administrator. The tenant id is the id of the cloud's identity
 * service, which is the same at every address and for every user.
 */
export async function validateCredentials(ctx: Ctx): Promise<Output<'validate_credentials'>> {
  try {
    await readList(ctx, '/domains')
    const services = await readList<Service>(ctx, '/services', { type: 'identity' })
    ctx.raw(services)
    const [id] = services.map((one) => one.id).sort()
    if (id === undefined)
      throw new ConnectorError('not_found', 'The catalogue of the cloud has no identity service')
    return { valid: true, unique_tenant_id: id }
  } catch (error) {
    if (!hasCode(error, 'permission_denied') || error.status_code !== 403) throw error
    const message = `The user needs the role admin in the project ${ctx.settings.project}: ${error.message}`
    throw new ConnectorError('permission_denied', message, error)
  }
}
