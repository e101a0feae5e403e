/** Returns a list of a hundred accounts; the last one identifies the isolate that returned it. */
import { defineConnector } from 'keyway/sdk'

const isolate = crypto.randomUUID()

const accounts = Array.from({ length: 99 }, (_, index) => ({
  integration_specific_id: `00u${String(index).padStart(17, 'x')}`,
  email: `person.number${index}@example.com`,
  given_name: `Person${index}`,
  family_name: `Number${index}`,
  username: `person.number${index}`,
  user_status: 'ACTIVE' as const,
  extra_data: { department: 'Research and development', cost_center: `CC-${index % 17}` },
  custom_attributes: { title: 'Engineer' },
  account_type: 'user' as const,
}))

export default defineConnector({
  list_accounts: () => [...accounts, { integration_specific_id: isolate }],
})
