/** Requests for a tag in a real RabbitMQ broker. */
import { describePaths } from './paths.ts'
import { startRabbitMq, why } from './rabbitmq.ts'

describePaths('a RabbitMQ broker', why, startRabbitMq)
