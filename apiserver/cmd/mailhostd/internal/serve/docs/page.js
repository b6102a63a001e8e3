// Nothing here or in the document names another origin.
SwaggerUIBundle({
  url: "openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  defaultModelRendering: "model",
  defaultModelExpandDepth: 2,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  showExtensions: true,
  validatorUrl: null,
});
