// The page of models: those of every server, and getting others.
import { attempt } from "./core.js";
import { createModelsStep } from "./setup-models.js";

attempt(createModelsStep().show);
